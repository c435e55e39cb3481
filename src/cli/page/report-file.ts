/** `--report FILE.html`: what a command found as one file, which a browser opens from disk. */
import { InputError } from '../../base/index.ts';
import { readReportPage } from '../../files/index.ts';
import { htmlPage, type ReportData } from '../../report/index.ts';
import type { Host, Ending } from '../host.ts';

/** @throws InputError `option/report` */
export function reportPath(path: string | undefined): string | null {
  if (path === '-')
    throw new InputError('option/report', '--report writes a file beside what is printed: give it a name');
  return path ?? null;
}

/** With the line that says where the report is. One that cannot be written is a warning: the verdict is printed all the same. */
export async function withReport(
  ending: Ending,
  data: () => ReportData,
  { report, prints, host }: { readonly report: string | null; readonly prints: boolean; readonly host: Host },
): Promise<Ending> {
  if (report === null) return ending;
  const bytes = await pageBytes(data());
  try {
    await host.writeOutput(report, [bytes]);
  } catch (error) {
    return { ...ending, err: `${ending.err}warning: the report cannot be written: ${(error as Error).message}\n` };
  }
  return prints ? { ...ending, out: `${ending.out}report: ${report}\n` } : ending;
}

export async function pageBytes(data: ReportData): Promise<Uint8Array> {
  return new TextEncoder().encode(htmlPage(await readReportPage(), data));
}
