/** A confirmed anomaly as a file that `moirai explore` runs. */
import type { Anomaly } from './anomaly.ts';
import { changesText } from './changes.ts';
import type { WitnessDefinition } from './witness-definition.ts';

/** `1-lost-update.program.ts` @param number from 1 */
export function programFileName({ name }: Anomaly, number: number): string {
  return `${number}-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.program.ts`;
}

export function formatProgram({ name, transactions, statements, fix }: Anomaly, program: WitnessDefinition): string {
  const places = statements.map(({ place, sql }) => ` *   ${place.file}:${place.line}  ${commentSafe(sql)}`);
  const change = fix === null ? [] : [` * The smallest change: ${changesText(fix.changes)}.`];
  return [
    '/**',
    ` * ${commentSafe(name)}: ${commentSafe(transactions.join(' with '))}. Found by moirai analyze; moirai explore runs every schedule of it.`,
    ...places,
    ...change,
    ' */',
    "import { witnessProgram } from 'moirai/analyze';",
    '',
    `export default witnessProgram(${JSON.stringify(program, null, 2)});`,
    '',
  ].join('\n');
}

function commentSafe(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('*/', '* /').trim();
}
