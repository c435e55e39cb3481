/** Arguments that end a range: of `starts_on < $3 AND ends_on > $2`, the third. A witness gives a later value to the end than to the start. */
import type { Value } from './application.ts';
import type { ParameterColumns } from './parameter-columns.ts';
import type { PathTemplate } from './templates.ts';

/** @returns whether the value ends a range of a search of the path that another starts */
export function endsOfRanges({ path }: PathTemplate, columns: ParameterColumns): (value: Value) => boolean {
  const ends = new Set<string>();
  for (const { statement } of path)
    for (const { asked } of columns.searches(statement)) {
      const comparedBy = (signs: readonly string[]): readonly string[] =>
        asked.flatMap(({ sign, value }) =>
          value.kind === 'parameter' && signs.includes(sign) ? argumentsIn(statement.parameters[value.number - 1]) : [],
        );
      const starts = comparedBy(['>', '>=']);
      if (starts.length > 0) for (const end of comparedBy(['<', '<='])) if (!starts.includes(end)) ends.add(end);
    }
  return (value) => ends.has(JSON.stringify(value));
}

function argumentsIn(value: Value | undefined): readonly string[] {
  if (value?.kind === 'expression') return value.operands.flatMap(argumentsIn);
  return value?.kind === 'argument' || value?.kind === 'element' ? [JSON.stringify(value)] : [];
}
