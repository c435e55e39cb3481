/** What a conclusion lacks or takes for granted, as lines under a headline. */
import { type Conclusion, gapText } from '../evidence/index.ts';
import { assumedText } from '../program/index.ts';
import { printable, type Styler, wrap } from '../report/index.ts';

/** The clause of the first gap, where there is one: for the headline. */
export function toldGap(conclusion: Conclusion): string[] {
  return conclusion.kind === 'unknown' ? conclusion.gaps.slice(0, 1).map(gapText) : [];
}

/** @param said clauses that the headline has */
export function conclusionLines(
  conclusion: Conclusion,
  { width, style, said }: { readonly width: number; readonly style: Styler; readonly said: readonly string[] },
): string[] {
  switch (conclusion.kind) {
    case 'satisfied':
      return conclusion.assumed.flatMap((clause) => wrap(printable(assumedText(clause)), width));
    case 'unknown':
      return conclusion.gaps
        .map(gapText)
        .filter((clause) => !said.includes(clause))
        .flatMap((clause) => wrap(`and ${printable(clause)}`, width))
        .map((line) => style('warning', line));
    case 'violated':
    case 'at-fault':
      return [];
  }
}
