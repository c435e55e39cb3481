/** The HTML report: reads the data of its file, and draws it. */
import { render } from 'preact';
import type { ReportData } from '../src/report/index.ts';
import { Report } from './report.tsx';
import { shown } from './words.ts';

const place = document.getElementById('page');
if (place !== null) void draw(place).catch((error: unknown) => (place.textContent = `No report: ${String(error)}`));

async function draw(page: HTMLElement): Promise<void> {
  const report = await dataOf(document.getElementById('data')?.textContent ?? '');
  document.title = `${shown(report.heading, 80)} · moirai`;
  page.replaceChildren();
  render(<Report report={report} />, page);
}

/** @param text as `src/report/page/html-page.ts` wrote it */
async function dataOf(text: string): Promise<ReportData> {
  const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  const json = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return (await new Response(json).json()) as ReportData;
}
