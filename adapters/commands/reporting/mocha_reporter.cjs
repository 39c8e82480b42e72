'use strict';
const fs = require('node:fs');
const { createRequire } = require('node:module');
const hook = require('./node_hook.cjs');

// what people read is mocha's usual output
const mocha = createRequire(fs.realpathSync(process.argv[1]))('mocha');

module.exports = class extends mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const files = new Map();
    const note = (status) => (test) => {
      const file = test.file || '';
      if (!files.has(file)) files.set(file, { name: file, assertionResults: [] });
      files.get(file).assertionResults.push({ fullName: test.fullTitle(), status });
    };
    runner.on('pass', note('passed'));
    runner.on('fail', note('failed'));
    runner.on('pending', note('skipped'));
    runner.once('end', () => hook.write([...files.values()], 'mocha'));
  }
};
