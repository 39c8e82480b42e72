'use strict';
// Loaded by Node.js before anything of the tree that is tested: has jest, vitest and mocha report the tests they run.
// Each runner gets its reporter as an argument behind its own; node --test gets it by NODE_OPTIONS (node_reporter.mjs).
const fs = require('node:fs');
const path = require('node:path');

const out = process.env.GWT_TEST_REPORT;
const started = path.basename(process.argv[1] || '').replace(/\.[cm]?js$/, '');
const name = `${started}-${process.pid}-${Math.random().toString(16).slice(2)}`;

function begin(runner) {
  fs.writeFileSync(path.join(out, `${name}.jsonl`), JSON.stringify({ begin: runner }) + '\n');
  // not for the programs that the tests start
  delete process.env.GWT_TEST_REPORT;
}

exports.write = (testResults, runner) => {
  fs.writeFileSync(path.join(out, `${name}.json`), JSON.stringify({ testResults }));
  exports.end(runner);
};
exports.end = (runner) => {
  fs.appendFileSync(path.join(out, `${name}.jsonl`), JSON.stringify({ end: runner }) + '\n');
};

if (out && process.env.NODE_TEST_CONTEXT === undefined) {
  if (started === 'jest') {
    begin('jest');
    process.argv.push('--reporters=default', `--reporters=${path.join(__dirname, 'jest_reporter.cjs')}`);
  } else if (started === 'mocha' || started === '_mocha') {
    begin('mocha');
    process.argv.push('--reporter', path.join(__dirname, 'mocha_reporter.cjs'));
  } else if (started === 'vitest') {
    const file = path.join(out, `${name}.json`);
    begin('vitest');
    process.argv.push('--reporter=default', '--reporter=json', `--outputFile.json=${file}`);
    process.on('exit', () => fs.existsSync(file) && exports.end('vitest'));
  }
}
