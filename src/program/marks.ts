/** Marks: what programs say with `sometimes(name, condition)`. */

/** Of one run: did the condition hold anywhere in it? */
export type Marks = ReadonlyMap<string, boolean>;

/** A condition was come across, and held or not. */
export function mark(marks: Map<string, boolean>, name: string, held: boolean): void {
  marks.set(name, held || (marks.get(name) ?? false));
}

/** Adds the marks of one run to how often each held, or the counts of other runs. */
export function countMarks(counts: Map<string, number>, marks: ReadonlyMap<string, boolean | number>): void {
  for (const [name, held] of marks) counts.set(name, (counts.get(name) ?? 0) + Number(held));
}
