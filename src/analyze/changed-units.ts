/**
 * The units that a change of the source touches, those with something not understood, and all that conflict with them, directly or through others: a
 * cycle of conflicts may pass there.
 */
import type { Application, CodeRange, Step, Unit, UnitStep } from './application.ts';
import { conflict } from './conflicting-statements.ts';
import { readSchema } from './schema.ts';
import { notUnderstoodInUnit, transactionsOf } from './transactions.ts';
import type { Access } from './access.ts';

export interface ChangedUnits {
  /** With the units that are to be analyzed. */
  readonly application: Application;
  /** Names of those that the change touches. */
  readonly touched: readonly string[];
}

/**
 * @param changed lines of the source, as they are now
 * @throws InputError `analyze/schema`
 */
export async function unitsOfChange(application: Application, changed: readonly CodeRange[]): Promise<ChangedUnits> {
  const touched = new Set(application.units.filter((unit) => isTouched(unit, changed, application.units)));
  const catalog = await readSchema(application);
  const accesses = new Map<Unit, Access[]>(application.units.map((unit) => [unit, []]));
  // What is not understood may conflict with anything; where the change touches nothing, the verdict is unknown all the same.
  const kept = new Set(touched);
  for (const { unit, paths, notUnderstood } of transactionsOf(application, catalog)) {
    accesses.get(unit)?.push(...paths.flat().flatMap(({ moments }) => moments.flat()));
    if (notUnderstood.length > 0) kept.add(unit);
  }
  for (const unit of application.units) if (notUnderstoodInUnit(unit.steps).length > 0) kept.add(unit);
  // A set takes what is added while it is walked.
  for (const unit of kept) {
    const own = accesses.get(unit) ?? [];
    for (const [other, theirs] of accesses)
      if (!kept.has(other) && own.some((a) => theirs.some((b) => conflict(a, b)))) kept.add(other);
  }
  return {
    application: { ...application, units: application.units.filter((unit) => kept.has(unit)) },
    touched: application.units.filter((unit) => touched.has(unit)).map(({ name }) => name),
  };
}

/** By a line of its functions, or by one outside all functions: of its files or, where no unit has code in that file, of any. */
function isTouched(unit: Unit, changed: readonly CodeRange[], all: readonly Unit[]): boolean {
  return changed.some((lines) => {
    const inFile = (one: Unit): readonly CodeRange[] => codeOf(one).filter(({ file }) => file === lines.file);
    const own = inFile(unit);
    if (own.some((range) => overlap(range, lines))) return true;
    const ranges = all.flatMap(inFile);
    const isInFunction = ranges.some(({ from, to }) => from <= lines.from && lines.to <= to);
    return !isInFunction && (own.length > 0 || ranges.length === 0);
  });
}

function codeOf({ place, steps, code = [] }: Unit): readonly CodeRange[] {
  const places = [place, ...placesIn(steps)].map(({ file, line }) => ({ file, from: line, to: line }));
  return [...code, ...places];
}

function placesIn(steps: readonly (UnitStep | Step)[]): readonly Unit['place'][] {
  return steps.flatMap((step) => {
    if (step.kind === 'branch') return placesIn([...step.ifTrue, ...step.ifFalse]);
    if (step.kind === 'loop') return placesIn(step.steps);
    if (step.kind === 'transaction') return [step.place, ...placesIn(step.steps)];
    return 'place' in step ? [step.place] : [];
  });
}

function overlap(a: CodeRange, b: CodeRange): boolean {
  return a.from <= b.to && b.from <= a.to;
}
