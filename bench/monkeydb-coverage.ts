/**
 * Fig. 13: distinct client-observable states (the vector of all values read) over the number of runs, averaged over random test harnesses,
 * against the exact maximum, which every path of an enumerating chooser gives. A harness: two sessions that each call random operations of
 * one application and then look at its state, as in the paper's artifact. The stack's loops give up after one attempt here, so that there are finitely many paths.
 */
import { exploring, nextPath, seeded } from '#moirai/base';
import { ProgramRunner } from '#moirai/campaign';
import type { ConstrainingLevel } from '#moirai/isolation';
import { drawing, enumerating } from '#moirai/mockdb';
import { type Program, program } from '#moirai/program';
import type { BenchOptions } from './bench-options.ts';
import { type Application, applications } from './monkeydb-operations.ts';
import { tableLines } from './table.ts';

const checkpoints = [10, 30, 100, 300, 1_000, 3_000, 10_000];
const levels: readonly ConstrainingLevel[] = ['serializable', 'causal'];

export async function coverage({ quick, print }: BenchOptions): Promise<void> {
  const harnesses = quick ? 3 : 15;
  const pathsMax = quick ? 50_000 : 400_000;
  const rows = [['application', 'level', 'maximum', ...checkpoints.map((runs) => `${runs} runs`), 'harnesses']];
  for (const [name, application] of Object.entries(applications)) {
    const totals = levels.map(() => ({ maximum: 0, seen: checkpoints.map(() => 0), harnesses: 0 }));
    for (let harness = 0; harness < harnesses; harness += 1) {
      const tested = randomHarness(application, harness);
      for (const [i, level] of levels.entries()) {
        const total = totals[i] as (typeof totals)[number];
        const maximum = await allStates(tested, level, pathsMax);
        if (maximum === null) continue; // too many paths to know the maximum
        total.harnesses += 1;
        total.maximum += maximum;
        (await statesSeen(tested, level)).forEach((seen, c) => (total.seen[c] = (total.seen[c] ?? 0) + seen));
      }
    }
    for (const [i, level] of levels.entries()) {
      const { maximum, seen, harnesses: counted } = totals[i] as (typeof totals)[number];
      const average = (sum: number): string => (counted === 0 ? '-' : (sum / counted).toFixed(1));
      rows.push([name, level, average(maximum), ...seen.map(average), `${counted} of ${harnesses}`]);
    }
  }
  print();
  print(
    'Fig. 13: distinct client-observable states after so many runs, average over random harnesses, and the exact maximum',
  );
  for (const line of tableLines(rows)) print(line);
}

function randomHarness({ initial, operations, perSession, look }: Application, harness: number): Program {
  const chooser = seeded(11, harness);
  const names = Object.keys(operations);
  const session = (index: number) => {
    const chosen = Array.from({ length: perSession }, () => names[chooser.choose(names.length)] as string);
    return async (s: Parameters<Application['operations'][string]>[0]) => {
      for (const [i, operation] of chosen.entries()) await operations[operation]?.(s, `${index}${i}`);
      return look(s);
    };
  };
  return program({ initial, sessions: { a: session(0), b: session(1) } });
}

/** `null` when there are more than `pathsMax` paths. */
async function allStates(tested: Program, level: ConstrainingLevel, pathsMax: number): Promise<number | null> {
  const runner = new ProgramRunner(tested, level);
  const states = new Set<number>();
  let paths = 0;
  for (let path: number[] | null = []; path !== null; paths += 1) {
    if (paths === pathsMax) return null;
    const chooser = exploring(path);
    const run = await runner.run(enumerating(chooser), { conflicts: 'discard' });
    if (run.kind === 'finished') states.add(run.observedState);
    path = nextPath(chooser.path, chooser.options);
  }
  return states.size;
}

async function statesSeen(tested: Program, level: ConstrainingLevel): Promise<number[]> {
  const runner = new ProgramRunner(tested, level);
  const states = new Set<number>();
  const seen: number[] = [];
  for (let i = 0; i < (checkpoints.at(-1) ?? 0); i += 1) {
    const run = await runner.run(drawing({ chooser: seeded(1, i) }));
    if (run.kind === 'finished') states.add(run.observedState);
    if (checkpoints.includes(i + 1)) seen.push(states.size);
  }
  return seen;
}
