/** What was inferred from recorded transactions, for people: each value of each statement, and how many transactions say so. */
import { counted, printable } from '../../report/index.ts';
import { formatValue } from '../format-application.ts';
import type { TrafficApplication, TrafficProgram } from './application-from-traffic.ts';

/** Lines, each with its break. */
export function trafficText({ programs, counts, cut }: TrafficApplication): string {
  const left = [
    ...(counts.repeated === 0 ? [] : [`${counted(counts.repeated, 'transaction')} that sent the same as many others`]),
    ...(counts.refused === 0 ? [] : [`${counted(counts.refused, 'transaction')} refused by the server`]),
    ...(cut === 0 ? [] : [`${counted(cut, 'transaction')} cut off`]),
    ...(counts.ddl === 0 ? [] : [counted(counts.ddl, 'DDL statement')]),
  ];
  const total = programs.reduce((sum, { transactions }) => sum + transactions, 0);
  const head = `inferred from ${counted(total, 'transaction')}, ${counted(counts.statements, 'statement')}${left.length === 0 ? '' : `; left out: ${left.join(', ')}`}`;
  return `${[head, ...programs.flatMap(programLines)].join('\n')}\n`;
}

function programLines({ unit, transactions, inferences }: TrafficProgram): readonly string[] {
  const lines = [`  ${printable(unit)}: ${counted(transactions, 'transaction')}`];
  let last = '';
  for (const { place, sql, parameter, value, basis } of inferences) {
    const text = `${place.file}:${place.line}  ${printable(sql.replaceAll(/\s+/g, ' '))}`;
    if (text !== last) lines.push(`    ${text}`);
    last = text;
    lines.push(`      ${parameter} is ${printable(formatValue(value))}: ${basis}`);
  }
  return lines;
}
