/**
 * The page with its data: one file. The data is JSON, compressed (RFC 1950) and in base64, in a script element that nothing runs: no text of
 * it is markup.
 */
import { deflateSync } from 'node:zlib';
import { assert } from '../../base/index.ts';
import type { ReportData } from './report-data.ts';

/** Where the data stands in the page that the build makes. */
const place = '<!--report-->';

/** @param page as `scripts/build-page.mjs` made it */
export function htmlPage(page: string, data: ReportData): string {
  const [before, after, ...others] = page.split(place);
  assert(after !== undefined && others.length === 0, 'the page has one place for its data');
  return `${before}${deflateSync(JSON.stringify(data)).toString('base64')}${after}`;
}
