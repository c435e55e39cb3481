/**
 * The runner of postgres.js's suite passes over every test after the first that fails. This one, in its place, adds a line `["name", passed]` to the
 * file MOIRAI_SUITE_OUTPUT for each, and ends the process after a failure, which leaves its connections as they are; the next process begins after the
 * tests that have a line.
 */
import { appendFileSync, readFileSync } from 'node:fs';

/** Of the bootstrap. */
export const exec = () => undefined;

const output = process.env.MOIRAI_SUITE_OUTPUT;
/** Those that have run in processes before this one. */
let skipped = readFileSync(output, 'utf8').split('\n').length - 1;
let last = Promise.resolve();

export const t = (...rest) => {
  if (skipped-- > 0) return;
  const own = last.then(() => run(...rest));
  last = own;
  void endAfter(own);
};

/** Ends the process after a failure and after the last test: connections that are open would keep it. */
async function endAfter(own) {
  const passed = await own;
  if (!passed || last === own) process.exit(passed ? 0 : 1);
}
t.timeout = 5;
export const nt = () => undefined;
export const ot = t;

let current = null;
/** An error that no test catches ends the process, as it does without this. */
process.on('uncaughtException', (error) => {
  if (current !== null) report(current, false, error);
  process.exit(1);
});

function report(name, passed, error) {
  if (!passed && process.env.MOIRAI_SUITE_VERBOSE !== undefined) console.log(name, error);
  appendFileSync(output, `${JSON.stringify([name, passed])}\n`);
}

/** @returns did it pass? */
async function run(name, ...rest) {
  current = name;
  const test = rest.at(-1);
  const { timeout = t.timeout } = rest.length > 1 ? rest[0] : {};
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('it takes too long')), timeout * 1000);
  });
  let failure = null;
  try {
    const [expected, got] = await Promise.all(await Promise.race([late, test()]));
    if (expected !== got) throw new Error(`${String(expected)} is expected, not ${String(got)}`);
  } catch (error) {
    failure = error;
  }
  clearTimeout(timer);
  current = null;
  report(name, failure === null, failure);
  return failure === null;
}
