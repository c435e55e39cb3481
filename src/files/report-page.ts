/** The page of the HTML report without its data, as the build made it. */
import { readFile } from 'node:fs/promises';

// From the sources and from the build, whose files all lie in a folder of `dist`.
const place = new URL('../../dist/report-page.html', import.meta.url);

export function readReportPage(): Promise<string> {
  return readFile(place, 'utf8');
}
