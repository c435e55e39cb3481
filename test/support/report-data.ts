/** The data of the HTML report that a command writes, without a browser. */
import { inflateSync } from 'node:zlib';
import type { Host } from '../../src/cli/host.ts';
import type { ReportData } from '../../src/report/index.ts';
import { type Ended, type Files, runHere } from './cli.ts';

/** @param args without --report */
export async function reportOf(args: readonly string[], files: Files): Promise<Ended & { readonly data: ReportData }> {
  let page = '';
  const writeOutput: Host['writeOutput'] = async (path, parts) => {
    if (path !== 'report.html') throw new Error(`${path} is written`);
    page = Buffer.concat([...parts]).toString();
  };
  const ended = await runHere([...args, '--report', 'report.html'], files, { writeOutput });
  return { ...ended, data: dataIn(page, ended.err) };
}

/** What `moirai report` makes of a result. */
export async function reportFrom(result: string): Promise<ReportData> {
  let page = '';
  const ended = await runHere(
    ['report', '-', '-o', 'r.html'],
    { '-': result },
    {
      writeOutput: async (_path, parts) => void (page = Buffer.concat([...parts]).toString()),
    },
  );
  return dataIn(page, ended.err);
}

export function dataIn(page: string, err = 'a page without data'): ReportData {
  const [, base64] = /id="data">([^<]+)</.exec(page) ?? [];
  if (base64 === undefined) throw new Error(`no report: ${err}`);
  return JSON.parse(inflateSync(Buffer.from(base64, 'base64')).toString()) as ReportData;
}
