import type { Level } from './access.ts';
import type { SearchLimits } from './chain-search.ts';
import { findTemplateSplit } from './find-split.ts';
import type { Allocation, Template } from './templates.ts';

/** Levels of a database, weakest first. The last one makes every schedule serializable where all transactions have it. */
const snapshotLevels: readonly Level[] = ['RC', 'SI', 'SSI'];

/** Is the set proven robust: does every schedule that these levels allow have the effect of a serial one? */
export function isRobust(templates: readonly Template[], levels: Allocation, limits?: SearchLimits): boolean {
  return findTemplateSplit(templates, levels, limits) === undefined;
}

/**
 * The weakest level of each program such that the whole set is robust: of the robust allocations one of the least cost (RC 0, SI 1, SSI 2).
 * Without locks beside writes, it is nowhere stronger than any other robust allocation, and weakening one program after another finds it. A lock
 * counts between programs at RC only, so that a program at a stronger level may be worse: where there are such locks, each choice of the programs
 * that have RC is a start of its own. What it rests on is the comparison with all allocations of small sets in the test.
 * Complexity: two tests of robustness for each program, and with locks that for each choice.
 * @param programOf the program of each template, by number from 0: the paths of one program have one level
 * @returns levels by program
 */
export function weakestLevels(
  templates: readonly Template[],
  programOf: readonly number[] = [...templates.keys()],
  limits?: SearchLimits,
): Allocation {
  const isAllowed = (levels: Allocation): boolean => isRobust(templates, levelsOfTemplates(levels, programOf), limits);
  const strongest: Level[] = Array.from({ length: Math.max(-1, ...programOf) + 1 }, () => 'SSI');
  const starts = choicesOf(programsWithLocks(templates, programOf)).map((chosen) =>
    strongest.map((level, program): Level => (chosen.includes(program) ? 'RC' : level)),
  );
  const found = starts.filter(isAllowed).map((start) => weakened(start, snapshotLevels, isAllowed));
  return found.toSorted((a, b) => costOf(a) - costOf(b))[0] ?? strongest;
}

/** RC 0, SI 1, SSI 2 for each program. */
export function costOf(levels: Allocation): number {
  return levels.reduce((sum, level) => sum + snapshotLevels.indexOf(level), 0);
}

/** From levels of programs to levels of their templates. */
function levelsOfTemplates(levels: Allocation, programOf: readonly number[]): Allocation {
  return programOf.map((program) => levels[program] ?? 'SSI');
}

/** Each program's level in turn as weak as the others, as they are then, allow. @param ladder weakest first */
export function weakened<L>(
  start: readonly L[],
  ladder: readonly L[],
  isAllowed: (levels: readonly L[]) => boolean,
): readonly L[] {
  let levels = start;
  for (const [program, level] of start.entries()) {
    const weaker = ladder.slice(0, ladder.indexOf(level));
    levels = levels.with(program, weaker.find((one) => isAllowed(levels.with(program, one))) ?? level);
  }
  return levels;
}

/** Those that lock rows without writing them, and those that write or lock rows of the same tables. */
function programsWithLocks(templates: readonly Template[], programOf: readonly number[]): readonly number[] {
  const accesses = templates.map(({ statements }) => statements.flat());
  const tables = new Set(accesses.flat().flatMap(({ table, locks, writes }) => (locks && writes === 0 ? [table] : [])));
  const conflicts = accesses.map((own) =>
    own.some(({ table, locks, writes }) => tables.has(table) && (locks || writes !== 0)),
  );
  return [...new Set(programOf.filter((_, template) => conflicts[template] === true))];
}

/** 2^8 starts; with more programs, none of them and all of them. */
const choiceMax = 8;

function choicesOf(programs: readonly number[]): readonly (readonly number[])[] {
  if (programs.length > choiceMax) return [[], programs];
  return Array.from({ length: 2 ** programs.length }, (_, bits) =>
    programs.filter((_one, index) => (bits >> index) % 2 === 1),
  );
}
