'use strict';
const hook = require('./node_hook.cjs');

module.exports = class {
  onRunComplete(_, results) {
    hook.write(
      results.testResults.map((file) => ({
        name: file.testFilePath,
        status: file.testExecError ? 'failed' : 'passed',
        assertionResults: file.testResults.map(({ fullName, status }) => ({ fullName, status })),
      })),
      'jest',
    );
  }
};
