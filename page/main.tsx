/** The HTML report: reads the data of its file, and draws it. */
import { render } from 'preact';
import type { ReportData } from '../src/report/index.ts';
import { Report } from './report.tsx';
import { shown } from './words.ts';

const place = document.getElementById('page');
const { report } = JSON.parse(document.getElementById('data')?.textContent ?? '{}') as {
  readonly report?: ReportData | null;
};
if (place !== null && report !== null && report !== undefined) {
  document.title = `${shown(report.heading, 80)} · moirai`;
  place.replaceChildren();
  render(<Report report={report} />, place);
}
