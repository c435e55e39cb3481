/**
 * For postgres.js's suite. Its runner passes over every test after the first that fails. This one, in its place, adds a line `["name", passed]` to
 * the file MOIRAI_SUITE_OUTPUT for each, and ends the process after a failure, which leaves its connections as they are; the next process begins after
 * the tests that have a line. Its bootstrap makes users and a database by psql: against moirai, which has every user and
 * every database, MOIRAI_SUITE_BOOTSTRAP=none leaves that out.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { register } from 'node:module';

const url = import.meta.url;

/** In the thread of the loader: both modules are this one. */
export function resolve(specifier, context, next) {
  const isOurs = specifier === './test.js' || (specifier === './bootstrap.js' && process.env.MOIRAI_SUITE_BOOTSTRAP === 'none');
  if (isOurs && context.parentURL?.endsWith('/tests/index.js')) return { url: `${url}?runner`, shortCircuit: true };
  return next(specifier, context);
}

if (!url.endsWith('?runner') && !url.endsWith('?loader')) register(`${url}?loader`);

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
  // Connections that are open would keep the process.
  own.then((passed) => {
    if (!passed || last === own) process.exit(passed ? 0 : 1);
  });
};
t.timeout = 5;
export const nt = () => undefined;
export const ot = t;

/** @returns did it pass? */
async function run(name, ...rest) {
  const test = rest.at(-1);
  const { timeout = t.timeout } = rest.length > 1 ? rest[0] : {};
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('it takes too long')), timeout * 1000);
  });
  let passed = false;
  try {
    const [expected, got] = await Promise.all(await Promise.race([late, test()]));
    passed = expected === got;
    if (!passed) throw new Error(`${String(expected)} is expected, not ${String(got)}`);
  } catch (error) {
    if (process.env.MOIRAI_SUITE_VERBOSE !== undefined) console.log(name, error);
  }
  clearTimeout(timer);
  appendFileSync(output, `${JSON.stringify([name, passed])}\n`);
  return passed;
}
