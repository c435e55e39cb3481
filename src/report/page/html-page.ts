/**
 * The page with its data: one file. The data is JSON in a script element that nothing runs. A `<` in it is written as an escape, so no text can
 * end the element or begin a comment (HTML, "Restrictions for contents of script elements").
 */
import { assert } from '../../base/index.ts';
import type { ReportData } from './report-data.ts';

/** Where the data stands in the page that the build makes. */
const place = '{"report":null}';

/** @param page as `scripts/build-page.mjs` made it */
export function htmlPage(page: string, data: ReportData): string {
  const [before, after, ...others] = page.split(place);
  assert(after !== undefined && others.length === 0, 'the page has one place for its data');
  return `${before}${JSON.stringify({ report: data }).replaceAll('<', String.raw`\u003c`)}${after}`;
}
