/**
 * What a command found as files beside what it prints: `--report FILE.html`, which a browser opens from disk, `--summary FILE.md` for the page of a job,
 * `--junit FILE.xml` for a CI service.
 */
import { InputError } from '../../base/index.ts';
import { readReportPage } from '../../files/index.ts';
import { formatJunit, formatSummary, htmlPage, type ReportData } from '../../report/index.ts';
import type { Host, Ending } from '../host.ts';

/** The files to write; `null`: it was not asked for. */
export interface ReportFiles {
  readonly report: string | null;
  readonly summary: string | null;
  readonly junit: string | null;
}

export const noReportFiles: ReportFiles = { report: null, summary: null, junit: null };

/** @throws InputError `option/report`, `option/summary`, `option/junit` */
export function reportFiles(given: { readonly [File in keyof ReportFiles]?: string | undefined }): ReportFiles {
  const pathOf = (file: keyof ReportFiles): string | null => {
    if (given[file] !== '-') return given[file] ?? null;
    throw new InputError(`option/${file}`, `--${file} writes a file beside what is printed: give it a name`);
  };
  return { report: pathOf('report'), summary: pathOf('summary'), junit: pathOf('junit') };
}

export interface Reported {
  /** All that was found. */
  readonly page: () => ReportData;
  /** The same by level, or by history. */
  readonly results: () => readonly ReportData[];
}

interface Written {
  readonly files: ReportFiles;
  /** Does the command print text, and not only JSON or a drawing? */
  readonly prints: boolean;
  readonly host: Host;
}

/** With the lines that say where the files are. One that cannot be written is a warning: the verdict is printed all the same. */
export async function withReports(
  ending: Ending,
  { page, results }: Reported,
  { files: { report, summary, junit }, prints, host }: Written,
): Promise<Ending> {
  let { out, err } = ending;
  const write = async (name: keyof ReportFiles, path: string, writing: () => Promise<void>): Promise<void> => {
    try {
      await writing();
      if (prints) out += `${name}: ${path}\n`;
    } catch (error) {
      err += `warning: the ${name} cannot be written: ${(error as Error).message}\n`;
    }
  };
  const encoder = new TextEncoder();
  if (summary !== null) {
    const bytes = encoder.encode(formatSummary(page()));
    await write('summary', summary, () => host.addOutput(summary, bytes));
  }
  if (junit !== null) {
    const bytes = encoder.encode(formatJunit(results(), page().heading));
    await write('junit', junit, () => host.writeOutput(junit, [bytes]));
  }
  if (report !== null) {
    const bytes = await pageBytes(page());
    await write('report', report, () => host.writeOutput(report, [bytes]));
  }
  return { ...ending, out, err };
}

/** Where there is one result, and no other file than the page. */
export function withReport(
  ending: Ending,
  page: () => ReportData,
  { report, prints, host }: { readonly report: string | null; readonly prints: boolean; readonly host: Host },
): Promise<Ending> {
  return withReports(ending, { page, results: () => [page()] }, { files: { ...noReportFiles, report }, prints, host });
}

export async function pageBytes(data: ReportData): Promise<Uint8Array> {
  return new TextEncoder().encode(htmlPage(await readReportPage(), data));
}
