import type { Level } from './access.ts';
import { findTemplateSplit } from './find-split.ts';
import type { Allocation, Template } from './templates.ts';

/** Levels of a database, weakest first. The last one makes every schedule serializable where all transactions have it. */
const snapshotLevels: readonly Level[] = ['RC', 'SI', 'SSI'];

/** Is the set robust: does every schedule that these levels allow have the effect of a serial one? */
export function isRobust(templates: readonly Template[], levels: Allocation): boolean {
  return findTemplateSplit(templates, levels) === undefined;
}

/**
 * The weakest level of each template such that the whole set is robust. For RC, SI and SSI there is exactly one such allocation that is nowhere
 * stronger than another robust one (PODS 2023, section 4): it is found by weakening one template after another.
 * Complexity: two tests of robustness for each template.
 */
export function weakestLevels(templates: readonly Template[]): Allocation {
  const levels: Level[] = templates.map(() => 'SSI');
  for (const index of templates.keys()) {
    const weakest = snapshotLevels.find((level) => isRobust(templates, levels.with(index, level)));
    levels[index] = weakest ?? 'SSI';
  }
  return levels;
}
