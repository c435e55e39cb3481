/** The kept failures of a program, replayed before it is tested again. */
import type { RecordedOptions } from '../../failures/index.ts';
import type { Program, SqlProgram } from '../../program/index.ts';
import { printable } from '../../report/index.ts';
import type { ExitCode, Host } from '../host.ts';
import { keptFailures } from './kept-failures.ts';
import { replayFailure, type ReplayLimits } from './replay-failure.ts';

export interface EarlierFailures {
  /** Lines to print before the result. */
  readonly text: string;
  /** With an earlier failure that still fails, or that cannot be read, nothing is satisfied. */
  readonly exitCode: (code: ExitCode) => ExitCode;
}

/** @param isAsked are they of the database that is tested? */
export async function replayEarlier(
  host: Host,
  file: string,
  program: Program | SqlProgram,
  isAsked: (options: RecordedOptions) => boolean,
  limits: ReplayLimits,
): Promise<EarlierFailures> {
  const lines: string[] = [];
  const unread: string[] = [];
  let stillFails = false;
  const kept = host.failures === null ? [] : await keptFailures(host.failures, host, file, (path) => unread.push(path));
  for (const { path, record } of kept.filter((each) => isAsked(each.record.options))) {
    const { answer, text, message } = await replayFailure(program, record, limits);
    stillFails ||= answer === 'still-fails';
    const what = answer === 'still-fails' ? `still fails: ${message ?? record.message}` : text;
    lines.push(`${path} ${printable(what)}\n`);
  }
  for (const path of unread)
    lines.push(`unknown: ${path} was not replayed: it cannot be read; delete it to forget it\n`);
  return {
    text: lines.join(''),
    exitCode: (code) => {
      if (stillFails && (code === 0 || code === 2)) return 1;
      return unread.length > 0 && code === 0 ? 2 : code;
    },
  };
}
