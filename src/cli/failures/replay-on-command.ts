/** `moirai replay --on URL`: a failing run of a SQL program, on a real server. */
import { InputError } from '../../base/index.ts';
import { parseFailureRecord } from '../../failures/index.ts';
import { isSqlProgram, type Program, type SqlProgram } from '../../program/index.ts';
import type { IsolationName } from '../../sql/index.ts';
import type { ExitCode, Host } from '../host.ts';
import { UserProgram } from '../modules/user-program.ts';
import { placed } from '../modules/user-code.ts';
import { shellWord } from '../options/invocation.ts';
import { appearance } from '../output/style.ts';
import { parseServerUrl, type ServerUrl } from '../record/record-command.ts';

interface ReplayOnOptions {
  readonly program?: string | undefined;
  readonly replay?: string | undefined;
  readonly before?: string | undefined;
  readonly isolation?: string | undefined;
  readonly repeat?: number | undefined;
  readonly timeoutMs: number;
  readonly json: boolean;
  readonly color: boolean;
}

/** With what the options stand for. */
interface Asked extends Omit<ReplayOnOptions, 'isolation' | 'before'> {
  readonly before: SqlProgram | null;
  readonly server: ServerUrl;
  readonly isolation: IsolationName | 'all' | null;
  readonly token: string | null;
  readonly file: string;
}

/** What is replayed: a program, and the token of a run where there is one. */
interface Replayable {
  readonly module: string;
  readonly token: string | null;
}

export async function replayOnCommand(
  file: string,
  url: string,
  options: ReplayOnOptions,
  host: Host,
): Promise<ExitCode> {
  const server = plainServer(url);
  const isolation = await levelOf(options.isolation);
  const { module, token } = await replayableOf(file, options, host);
  const user = new UserProgram(module, options, host);
  try {
    const program = await user.load();
    if (program === null) return user.late();
    requireSql(program, module);
    const before = options.before === undefined ? null : await host.loadProgram(options.before);
    if (before !== null) requireSql(before, options.before ?? '');
    user.stop();
    return await replayOnServer(program, { ...options, server, isolation, token, file, before }, host);
  } catch (error) {
    if (error instanceof InputError && error.code === 'replay/interrupted') {
      host.err('interrupted\n');
      return 2;
    }
    throw error instanceof InputError && error.code.startsWith('program/') ? placed(error, module) : error;
  } finally {
    user.stop();
  }
}

async function replayOnServer(
  program: SqlProgram,
  { server, before, isolation, token, file, repeat = 1, timeoutMs, json, color }: Asked,
  host: Host,
): Promise<ExitCode> {
  const { replayOn, formatReplayedOn, replayedOnJson, replayedPage, verdictOfLevels } = await import(
    '../../replay/index.ts'
  );
  const replayed = await replayOn(program, {
    server,
    before,
    isolation,
    token,
    repeat,
    timeoutMs,
    timeMaxMs: searchMsMax,
    signal: host.interruption,
  });
  const report = replayedPage(replayed, `moirai replay ${shellWord(file)}`);
  if (json) host.out(`${JSON.stringify({ file, ...replayedOnJson(replayed), report })}\n`);
  else host.out(`${formatReplayedOn(replayed, appearance(host, color))}\n`);
  return exitCodes[verdictOfLevels(replayed)];
}

/** For finding a failing run. */
const searchMsMax = 60_000;

const exitCodes = { observed: 1, 'not-observed': 0, diverged: 2 } as const;

/** @throws InputError `program/sql` */
export function requireSql(program: Program | SqlProgram, file: string): asserts program is SqlProgram {
  if (!isSqlProgram(program))
    throw new InputError('program/sql', 'this program reads and writes keys; a server runs SQL programs', { file });
}

/** A kept failure names its program and its run. */
async function replayableOf(file: string, { program, replay }: ReplayOnOptions, host: Host): Promise<Replayable> {
  if (!file.endsWith('.json')) return { module: file, token: replay ?? null };
  if (replay !== undefined)
    throw new InputError('option/replay', '--replay goes with a program: a kept failure says itself which run it is');
  const record = parseFailureRecord(new TextDecoder().decode(await host.readInput(file)), file);
  return { module: program ?? record.program.file, token: record.token };
}

/** @throws InputError `option/url`, `option/on` */
export function plainServer(url: string): ServerUrl {
  const server = parseServerUrl(url);
  const { searchParams } = new URL(url);
  const mode = searchParams.get('sslmode') ?? searchParams.get('ssl-mode') ?? searchParams.get('ssl');
  if (mode === null || /^(?:disable|disabled|allow|prefer|preferred|false|0)$/i.test(mode)) return server;
  throw new InputError('option/on', 'a replay speaks to a server without TLS: through a tunnel, or on this machine');
}

/** @throws InputError `option/isolation` */
export async function levelOf(text: string | undefined): Promise<IsolationName | 'all' | null> {
  if (text === undefined) return null;
  if (text === 'all') return text;
  const { isolationNamed } = await import('../../database/index.ts');
  return isolationNamed(text);
}
