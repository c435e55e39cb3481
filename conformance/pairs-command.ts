/** `npm run conformance -- pairs`: every pair of some thirty statements; `--pairs N` of them, drawn, or from `--first` on. */
import { seeded } from '../src/base/index.ts';
import { engineLevels } from '../src/database/index.ts';
import type { Dialect } from '../src/sql/model/index.ts';
import { Choices } from './choices.ts';
import type { CommandOptions } from './command.ts';
import { type Difference, listing, signatureOf } from './difference.ts';
import { knownDifference } from './known-differences.ts';
import { pairShapes } from './pair-shapes.ts';
import { runPair } from './pairs.ts';
import type { Level } from './schedule.ts';
import { dialectsOf, withServer } from './servers.ts';

export async function pairs(options: CommandOptions): Promise<boolean> {
  const { flags, print } = options;
  let isFine = true;
  for (const dialect of dialectsOf(options)) {
    const level = flags.get('isolation');
    const levels = level === undefined ? engineLevels[dialect] : [level as Level];
    for (const each of levels) isFine = (await pairsAt(dialect, each, options)) && isFine;
  }
  print(isFine ? '\nno unknown difference' : '\ndifferences');
  return isFine;
}

async function pairsAt(dialect: Dialect, level: Level, { flags, print }: CommandOptions): Promise<boolean> {
  const all = allPairs(pairShapes[dialect]);
  const wanted = Number(flags.get('pairs') ?? all.length);
  const choices = new Choices(seeded(Number(flags.get('seed') ?? 1)));
  const first = flags.get('first');
  const isDrawn = first === undefined && wanted < all.length;
  const taken = isDrawn
    ? Array.from({ length: wanted }, () => choices.pick(all))
    : all.slice(Number(first ?? 0), Number(first ?? 0) + wanted);
  const counts = {
    pairs: 0,
    schedules: 0,
    outcomes: 0,
    onlyExplored: 0,
    byAnotherPath: 0,
    unsupported: 0,
    known: 0,
    missed: { 'index pages': 0, 'access paths': 0, unknown: 0 },
  };
  const groups = new Map<string, { count: number; readonly example: Difference }>();
  return withServer(dialect, async (real) => {
    for (const pair of taken) {
      const result = await runPair(dialect, level, pair, real);
      counts.pairs += 1;
      counts.schedules += result.schedules;
      counts.outcomes += result.outcomes;
      counts.onlyExplored += result.onlyExplored;
      counts.byAnotherPath += result.byAnotherPath;
      counts.unsupported += Number(result.unsupported.size > 0);
      for (const example of result.differences) {
        if (knownDifference(example) !== undefined) {
          counts.known += 1;
          continue;
        }
        const signature = signatureOf(example);
        if (!groups.has(signature)) print(`\n-- ${signature}\n${listing(example, real.name)}`);
        groups.set(signature, { example, count: (groups.get(signature)?.count ?? 0) + 1 });
      }
      for (const reason of ['index pages', 'access paths', 'unknown'] as const) {
        // A difference says more.
        if (reason === 'unknown' && result.differences.length > 0) continue;
        const missed = result.missed[reason];
        counts.missed[reason] += missed.length;
        if (missed.length === 0) continue;
        print(`not explored (${reason}), ${dialect} ${level}: ${pair.join(' | ')}\n  ${missed.join('\n  ')}`);
      }
    }
    for (const [signature, { count }] of groups) print(`${count} interleavings: ${signature}`);
    print(
      `\n${real.name}, ${level}: ${counts.pairs} pairs, ${counts.schedules} interleavings, ${counts.outcomes} outcomes; ` +
        `${counts.unsupported} pairs not supported, ${counts.known} interleavings with known differences, ` +
        `${counts.byAnotherPath} interleavings equal by another access path, ${groups.size} groups of differences; ` +
        `outcomes that explore misses: ${counts.missed['index pages']} by index pages, ` +
        `${counts.missed['access paths']} by access paths, ${counts.missed.unknown} others; ` +
        `${counts.onlyExplored} outcomes of explore lie between steps`,
    );
    return groups.size === 0 && counts.missed.unknown === 0;
  });
}

function allPairs(shapes: readonly string[]): (readonly [string, string])[] {
  return shapes.flatMap((a, i) => shapes.slice(i).map((b) => [a, b] as const));
}
