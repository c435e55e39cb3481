/** Decorators of classes and properties, by which libraries learn the columns of rows. */
import type ts from 'typescript';
import { type Abstract, type ClassValue, unknown } from '../abstract-value.ts';
import type { Machine } from '../machine.ts';

export interface Decorator {
  readonly name: string;
  /** A function, `() => User`, is not evaluated: entities name each other. */
  readonly args: readonly Abstract[];
  /** The same, where they are asked for. */
  readonly later: readonly (() => Abstract)[];
}

/** `@Column` and `@Column({ ... })`. */
export function decoratorsOf(
  machine: Machine,
  type: ClassValue,
  node: ts.ClassLikeDeclaration | ts.PropertyDeclaration,
): readonly Decorator[] {
  const { ts } = machine.project;
  return (ts.getDecorators(node) ?? []).map(({ expression }) => {
    if (!ts.isCallExpression(expression)) return { name: expression.getText(), args: [], later: [] };
    const args = expression.arguments.map((arg) =>
      ts.isArrowFunction(arg) ? unknown('a type') : machine.evaluate(arg, type.scope),
    );
    const later = expression.arguments.map((arg) => () => machine.evaluate(arg, type.scope));
    return { name: expression.expression.getText(), args, later };
  });
}
