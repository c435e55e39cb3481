/**
 * For postgres.js's suite: `each-test-runner.mjs` stands in place of its runner. Its bootstrap makes users and a database by psql: against moirai,
 * which has every user and every database, MOIRAI_SUITE_BOOTSTRAP=none leaves that out.
 */
import { register } from 'node:module';

const url = import.meta.url;

/** In the thread of the loader. */
export function resolve(specifier, context, next) {
  const isOurs =
    specifier === './test.js' || (specifier === './bootstrap.js' && process.env.MOIRAI_SUITE_BOOTSTRAP === 'none');
  if (isOurs && context.parentURL?.endsWith('/tests/index.js'))
    return { url: new URL('each-test-runner.mjs', url).href, shortCircuit: true };
  return next(specifier, context);
}

if (!url.endsWith('?loader')) register(`${url}?loader`);
