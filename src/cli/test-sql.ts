/** `moirai test` for a SQL program: the database is an engine profile or a level of the axioms, behind the program's own driver. */
import { InputError } from '../base/index.ts';
import type { SqlProgram } from '../program/index.ts';
import type { SqlCampaignResult } from '../sql-campaign/index.ts';
import type { ExitCode, Host } from './host.ts';
import type { Progress } from './progress.ts';
import { invocation, shellWord } from './replay-command.ts';
import { appearance } from './style.ts';
import type { TestOptions } from './test-options.ts';

/** @throws InputError `option/...`, `program/schema` */
export async function testSqlProgram(
  file: string,
  options: TestOptions,
  host: Host,
  program: SqlProgram,
  progress: Progress,
  onRun: () => void,
): Promise<() => ExitCode> {
  const { sql = {} } = options;
  if (sql.level === 'all')
    throw new InputError(
      'option/level',
      '--level all is for key-value programs; a SQL program is tested on one database at a time',
    );
  const { formatSqlFailure, formatSqlResult, runSqlCampaign, sqlCampaignDefaults } = await import(
    '../sql-campaign/index.ts'
  );
  const { parseProfile, profileText } = await import('../serve/index.ts');
  const profile = parseProfile({
    ...sql,
    ...(sql.level === undefined ? { engine: sql.engine ?? program.dialect } : { dialect: program.dialect }),
  });
  const { seed, replay, abortRate, timeoutMs } = options;
  const result = await runSqlCampaign(program, {
    profile,
    runs: sql.runs ?? sqlCampaignDefaults.runs,
    seed,
    abortRate,
    timeoutMs,
    onRun,
    onProgress: ({ runs, runsMax }) => progress.update(profileText(profile), runs, runsMax),
    ...(replay === undefined ? {} : { replay }),
  });
  return () => {
    const command = result.failure === null ? null : replayLine(file, options, result.failure.replay, host);
    if (options.json) host.out(`${JSON.stringify(resultJson(result, command))}\n`);
    else if (result.failure !== null && command !== null)
      host.out(`${formatSqlFailure(result, result.failure, { ...appearance(host, options.color), command })}\n`);
    else if (result.timeout === null) host.out(`${formatSqlResult(result, appearance(host, options.color))}\n`);
    if (result.timeout !== null) host.err(`session "${result.timeout}" did not end within ${timeoutMs / 1_000} s\n`);
    if (result.violations > 0) return 1;
    return result.timeout === null ? 0 : 2;
  };
}

function replayLine(file: string, { sql = {}, abortRate, seed }: TestOptions, token: string, host: Host): string {
  const words = [
    file.startsWith('-') ? `./${file}` : file,
    ...Object.entries({
      engine: sql.engine,
      isolation: sql.isolation,
      level: sql.level,
      granularity: sql.granularity,
    }).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value])),
    ...(abortRate === 0 ? [] : ['--abort-rate', String(abortRate), '--seed', String(seed)]),
    '--replay',
    token,
  ];
  return `${invocation(host)} test ${words.map(shellWord).join(' ')}`;
}

function resultJson(result: SqlCampaignResult, command: string | null): unknown {
  const { profile, runs, violations, distinctSchedules, seed, failure } = result;
  return {
    level: profile.family === 'engine' ? profile.isolation : profile.level,
    engine: profile.family === 'engine' ? profile.dialect : null,
    runs,
    violations,
    distinctStates: distinctSchedules,
    seed,
    replay: failure?.replay ?? null,
    anomaly: null,
    message: failure?.message ?? null,
    command,
  };
}
