/** @internal `MOIRAI_REPORT=FOLDER`: where a test that fails writes its HTML report. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { callerFrame, formatInputError, InputError, type Place } from '../base/index.ts';
import type { FailureReport } from '../campaign/index.ts';
import { fileStem } from '../failures/index.ts';
import { makeFolder, readReportPage, writeErrorText, writeWhole } from '../files/index.ts';
import { htmlPage, type ReportData } from '../report/index.ts';

/** @param call made where the user's test calls; its stack names the test */
export function reportFolder(what: 'testProgram' | 'testSqlProgram', call: Error): { readonly report?: FailureReport } {
  const folder = process.env['MOIRAI_REPORT'] ?? '';
  if (folder === '') return {};
  const place = callerFrame(call);
  const heading = place === undefined ? what : `${what} at ${place.file}:${place.line}`;
  return { report: { heading, write: (data) => writeReport(folder, data, place) } };
}

/** The line that says where the report is. One that cannot be written is a warning: the test fails with what was found all the same. */
async function writeReport(folder: string, data: ReportData, place: Place | undefined): Promise<string> {
  const path = join(folder, nameOf(data, place));
  try {
    const page = htmlPage(await readReportPage(), data);
    await makeFolder(folder);
    writeWhole(path, [new TextEncoder().encode(page)]);
    return `report: ${path}`;
  } catch (error) {
    const why = error instanceof InputError ? formatInputError(error) : writeErrorText(error);
    return `warning: there is no report: ${why}`;
  }
}

/** The same failure of the same test has the same name: `transfer.test-12-3f9a1c.html`. */
function nameOf({ heading, database, verdict, runs }: ReportData, place: Place | undefined): string {
  const what = JSON.stringify([heading, database, verdict.text, runs.map(({ replay }) => replay)]);
  const hash = createHash('sha256').update(what).digest('hex').slice(0, 6);
  return place === undefined ? `test-${hash}.html` : `${fileStem(place.file ?? '')}-${place.line}-${hash}.html`;
}
