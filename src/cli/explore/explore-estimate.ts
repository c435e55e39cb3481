/** `moirai explore --estimate`: how large an exploration would be, from random probes, and nothing is explored. */
import { Budget, InputError, seeded } from '../../base/index.ts';
import { conclude, conclusionJson, exitCodeOf, noEvidence } from '../../evidence/index.ts';
import { estimateHistories, formatEstimate } from '../../explore/index.ts';
import { constrainingLevels } from '../../isolation/index.ts';
import { ControlledSources, isSqlProgram, type Program, type SqlProgram } from '../../program/index.ts';
import { type ExploreCommandOptions, refuseSqlOptions } from './explore-options.ts';
import { isOfAll, profilesOf } from './explore-sql-options.ts';
import type { Host, Ending } from '../host.ts';
import type { UserProgram } from '../modules/user-program.ts';

/** Of one level. */
interface Estimated {
  /** `null`: no probe came to its end. */
  readonly text: string | null;
  readonly json: { readonly level: string; readonly engine?: string | null; readonly estimate: object | null };
}

/** Nothing was judged: the verdict is `unknown`. @throws InputError `option/...`, `program/schema` */
export async function estimateExploration(
  program: Program | SqlProgram,
  options: ExploreCommandOptions,
  host: Host,
  user: UserProgram,
): Promise<Ending> {
  const found: Estimated[] = [];
  user.onCut(() => endingOf(found, options));
  const budget = new Budget({ timeMaxMs: options.timeMaxMs ?? Infinity, signal: host.interruption });
  if (isSqlProgram(program)) await estimateSql(program, options, budget, user, found);
  else await estimateKeys(program, options, budget, user, found);
  return endingOf(found, options);
}

/** @throws InputError `option/estimate` */
export function refuseWithEstimate({
  replay,
  checkpoint,
  resume,
  failsFast,
  drawing,
  plans,
}: ExploreCommandOptions): void {
  const given = { replay, checkpoint, resume, 'fail-fast': failsFast || null, [drawing ?? 'drawing']: drawing };
  const [other] = Object.entries(given).find(([, value]) => value !== null) ?? [];
  if (other !== undefined) throw new InputError('option/estimate', `--estimate explores nothing: leave out --${other}`);
  if (plans === 'all')
    throw new InputError('option/estimate', '--estimate is of the likely access paths: leave out --plans');
}

async function estimateKeys(
  program: Program,
  options: ExploreCommandOptions,
  budget: Budget,
  user: UserProgram,
  found: Estimated[],
): Promise<void> {
  refuseSqlOptions(options);
  const { level: asked, base, stepsMax, timeoutMs } = options;
  for (const level of asked === 'all' ? constrainingLevels : [asked]) {
    const estimate = await estimateHistories(program, {
      level,
      base,
      timeoutMs,
      ...(stepsMax === null ? {} : { stepsMax }),
      ...limitsOf(budget),
      chooser: seeded(1),
      onTurn: user.onTurn(),
    });
    if (estimate === null) {
      found.push({ text: null, json: { level, estimate } });
      continue;
    }
    const { histories, runs, runsError, probes } = estimate;
    const json = { level, estimate: { histories, runs, error: runsError, probes } };
    found.push({ text: formatEstimate(level, estimate), json });
  }
}

async function estimateSql(
  program: SqlProgram,
  options: ExploreCommandOptions,
  budget: Budget,
  user: UserProgram,
  found: Estimated[],
): Promise<void> {
  // Loading these costs time that other commands do without.
  const { estimateSchedules, formatScheduleEstimate } = await import('../sql-tools.ts');
  const onTurn = user.onTurn();
  const sources = new ControlledSources(program);
  sources.begin('now');
  try {
    for (const profile of await profilesOf(options, program)) {
      const estimate = await estimateSchedules(sources.program, {
        profile,
        timeoutMs: options.timeoutMs,
        ...limitsOf(budget),
        chooser: seeded(1),
        onRun: () => onTurn(0, () => 'a statement'),
      });
      const isKnown = estimate.probes > 0;
      const of =
        profile.family === 'engine'
          ? { level: profile.isolation, engine: profile.engine }
          : { level: profile.level, engine: null };
      found.push({
        text: isKnown ? formatScheduleEstimate(profile, estimate) : null,
        json: { ...of, estimate: isKnown ? estimate : null },
      });
    }
  } finally {
    sources.end();
  }
}

function limitsOf({ leftMs, signal }: Budget): { readonly timeMaxMs: number; readonly signal?: AbortSignal } {
  return { timeMaxMs: leftMs, ...(signal === undefined ? {} : { signal }) };
}

function endingOf(found: readonly Estimated[], options: ExploreCommandOptions): Ending {
  const isWhole = found.length > 0 && found.every(({ text }) => text !== null);
  const why = isWhole ? 'only an estimate was asked for' : 'no probe came to its end';
  const conclusion = conclude({ ...noEvidence, cut: [why] });
  const code = exitCodeOf(conclusion);
  if (options.json) {
    const shapes = found.map(({ json }) => ({ ...json, ...conclusionJson(conclusion) }));
    const isOfSeveral = options.level === 'all' || isOfAll(options);
    const shape = isOfSeveral ? shapes : (shapes[0] ?? { estimate: null, ...conclusionJson(conclusion) });
    return { out: `${JSON.stringify(shape)}\n`, err: '', code };
  }
  const lines = found.flatMap(({ text }) => (text === null ? [] : [text]));
  return { out: [...lines, `unknown: ${why}`, ''].join('\n'), err: '', code };
}
