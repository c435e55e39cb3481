/** A program at several levels: the table of `--level all`, and the weakest level at which it passes. */
import { constrainingLevels, type ConstrainingLevel } from '../isolation/index.ts';
import type { Program } from '../program/index.ts';
import { type CampaignOptions, type CampaignResult, runCampaign } from './campaign.ts';

/** One campaign for each level, weakest first, with the same seed. */
export async function runAtEveryLevel(program: Program, options: CampaignOptions = {}): Promise<CampaignResult[]> {
  const results: CampaignResult[] = [];
  for (const level of constrainingLevels) results.push(await runCampaign(program, { ...options, level }));
  return results;
}

/**
 * The weakest level above `level` at which the program passes as many runs as asked, with the same seed: where it passes, so it does at
 * all levels above it. Evidence, not proof. `null` when no level helps.
 */
export async function weakestPassingLevel(
  program: Program,
  level: ConstrainingLevel,
  options: CampaignOptions,
): Promise<ConstrainingLevel | null> {
  const { replay: _replay, ...same } = options;
  let weakest: ConstrainingLevel | null = null;
  const stronger = constrainingLevels.slice(constrainingLevels.indexOf(level) + 1);
  for (const candidate of stronger.toReversed()) {
    const result = await runCampaign(program, { ...same, level: candidate, stopAtFirst: true });
    if (result.violations > 0 || result.timeout !== null) break;
    weakest = candidate;
  }
  return weakest;
}
