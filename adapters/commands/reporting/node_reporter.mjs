import fs from 'node:fs';
import path from 'node:path';

// A reporter of node --test: writes each test down as it ends. What people read is the usual reporter beside it.
const out = process.env.GWT_TEST_REPORT;

export default async function* report(source) {
  const file = out && path.join(out, `node-${process.pid}-${Math.random().toString(16).slice(2)}.jsonl`);
  const write = (told) => file && fs.appendFileSync(file, `${JSON.stringify(told)}\n`);
  write({ begin: 'node' });
  const around = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') {
      around.length = data.nesting;
      around[data.nesting] = data.name;
    }
    if ((type === 'test:pass' || type === 'test:fail') && data.details?.type !== 'suite') {
      const names = [...around.slice(0, data.nesting), data.name].join(' > ');
      // a file that could not be run has its own path as its name
      const skipped = data.skip !== undefined && data.skip !== false;
      const ended = type === 'test:fail' && data.todo === undefined ? 'failed' : 'passed';
      write({ test: `${data.file || ''} > ${names}`, ended: skipped ? 'skipped' : ended });
    }
  }
  write({ end: 'node' });
  yield '';
}
