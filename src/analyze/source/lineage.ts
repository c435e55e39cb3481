import type { ClassValue } from './abstract-value.ts';
import type { Machine } from './machine.ts';

/** The class and those that it extends, as far as they are in the sources. */
export function lineage(machine: Machine, type: ClassValue): readonly ClassValue[] {
  const { ts } = machine.project;
  const parent = type.node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0];
  if (parent === undefined) return [type];
  const value = machine.evaluate(parent.expression, type.scope);
  return value.kind === 'class' && value.node !== type.node ? [type, ...lineage(machine, value)] : [type];
}
