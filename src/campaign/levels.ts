/** A program at several levels: the table of `--level all`, and the weakest level at which it passes. */
import { Budget } from '../base/index.ts';
import { constrainingLevels, type ConstrainingLevel } from '../isolation/index.ts';
import type { Program } from '../program/index.ts';
import { cutOf } from './failure-text.ts';
import type { CampaignOptions, CampaignResult } from './campaign-options.ts';
import { runCampaign } from './campaign.ts';

/** One campaign for each level, weakest first, with the same seed. */
export async function runAtEveryLevel(program: Program, options: CampaignOptions = {}): Promise<CampaignResult[]> {
  const results: CampaignResult[] = [];
  const budget = new Budget(options);
  for (const level of constrainingLevels)
    results.push(await runCampaign(program, { ...options, level, timeMaxMs: budget.leftMs }));
  return results;
}

/**
 * The weakest level above `level` at which the program passes as many runs as asked, with the same seed: where it passes, so it does at
 * all levels above it. Evidence, not proof. `null` when no level helps; `undefined` when the time was over before it was known.
 */
export async function weakestPassingLevel(
  program: Program,
  level: ConstrainingLevel,
  options: CampaignOptions,
): Promise<ConstrainingLevel | null | undefined> {
  const { replay: _replay, onStart: _onStart, onProgress: _onProgress, ...same } = options;
  const budget = new Budget(options);
  let weakest: ConstrainingLevel | null = null;
  const stronger = constrainingLevels.slice(constrainingLevels.indexOf(level) + 1);
  for (const candidate of stronger.toReversed()) {
    const timeMaxMs = budget.leftMs;
    const result = await runCampaign(program, { ...same, level: candidate, stopAtFirst: true, timeMaxMs });
    if (cutOf(result) !== null) return undefined;
    if (result.violations > 0 || result.timeout !== null) break;
    weakest = candidate;
  }
  return weakest;
}
