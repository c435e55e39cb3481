/** `moirai explore --on URL` and `moirai test --on URL`: schedules of a SQL program on a real server. */
import { InputError } from '../../base/index.ts';
import type { Search } from '../../replay/index.ts';
import { levelOf, plainServer, requireSql } from '../failures/replay-on-command.ts';
import type { ExitCode, Host } from '../host.ts';
import { placed } from '../modules/user-code.ts';
import { UserProgram } from '../modules/user-program.ts';
import { appearance } from '../output/style.ts';

export interface ExploreOnCommand {
  readonly isolation: string | undefined;
  readonly search: Search;
  readonly timeMaxMs: number | null;
  readonly timeoutMs: number;
  readonly failsFast: boolean;
  readonly json: boolean;
  readonly color: boolean;
}

/** @throws InputError `option/...`, `replay/...`, `program/...` */
export async function exploreOnCommand(
  file: string,
  url: string,
  options: ExploreOnCommand,
  host: Host,
): Promise<ExitCode> {
  const server = plainServer(url);
  const { search, timeMaxMs, timeoutMs, failsFast, json, color } = options;
  const isolation = await levelOf(options.isolation);
  if (isolation === 'all') throw new InputError('option/isolation', '--on takes one level at a time');
  const user = new UserProgram(file, options, host);
  try {
    const program = await user.load();
    if (program === null) return user.late();
    requireSql(program, file);
    user.stop();
    const { exploreOn, exploredOnJson, formatExploredOn, verdictOfExplored } = await import('../../replay/index.ts');
    const explored = await exploreOn(program, {
      server,
      isolation,
      search,
      timeMaxMs: timeMaxMs ?? Infinity,
      timeoutMs,
      failsFast,
      signal: host.interruption,
    });
    if (json) host.out(`${JSON.stringify({ file, ...exploredOnJson(explored) })}\n`);
    else host.out(`${formatExploredOn(explored, appearance(host, color))}\n`);
    return exitCodes[verdictOfExplored(explored)];
  } catch (error) {
    throw error instanceof InputError && error.code.startsWith('program/') ? placed(error, file) : error;
  } finally {
    user.stop();
  }
}

const exitCodes = { violated: 1, satisfied: 0, unknown: 2 } as const;

/** What is of the mock database. @param given by the names of options @throws InputError `option/...` */
export function refuseWithServer(given: Readonly<Record<string, unknown>>): void {
  for (const [option, value] of Object.entries(given))
    if (value !== undefined && value !== false)
      throw new InputError(`option/${option}`, `--${option} is of the mock database; --on runs on a real server`);
}
