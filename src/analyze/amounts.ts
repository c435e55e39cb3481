/** Numbers that nothing in the schema or in the statements decides: what a witness tries, one after another. */
import type { RowValue } from './column-values.ts';

/** What nothing decides: the numbers in rows, and those that transactions are called with. */
export interface Amounts {
  readonly inRows: number;
  readonly inArguments: number;
  /** Are the arguments of all instances the same, or does each have a multiple of its own? */
  readonly areArgumentsEqual: boolean;
  /** Do instances compare one column with the same argument, so that they look for the same rows? */
  readonly areComparedEqual: boolean;
  /** How many rows a condition finds that may find none, or whose number nothing says. */
  readonly foundRows: number;
  /** Of results, by `chosenColumn`: instead of the number in rows. */
  readonly inColumns: ReadonlyMap<string, RowValue | null>;
}

export const usual: Amounts = {
  inRows: 100,
  inArguments: 10,
  areArgumentsEqual: false,
  areComparedEqual: true,
  foundRows: 0,
  inColumns: new Map(),
};

/** Of any witness. */
export const firstAmounts: readonly Amounts[] = [
  usual,
  // Conditions of which no key is a part: on the same values.
  { ...usual, areArgumentsEqual: true },
  { ...usual, foundRows: 1 },
];

export const attempts: readonly Amounts[] = [
  ...firstAmounts,
  { ...usual, foundRows: 2 },
  { ...usual, inArguments: 60 },
  { ...usual, inArguments: 150 },
  { ...usual, inRows: 1, inArguments: 1 },
  { ...usual, inRows: 0 },
  { ...usual, areComparedEqual: false },
  { ...usual, inArguments: 100, areArgumentsEqual: true },
];

/** Two transactions that take one and two of what two rows have together, or ten and twenty: alone either may, after the other it may not. */
export const amountsForState: readonly Amounts[] = [
  { ...usual, inRows: 1, inArguments: 1 },
  { ...usual, inRows: 10 },
];

/** @param inColumns of results, by `chosenColumn` */
export function amountsWith(inColumns: Amounts['inColumns']): Amounts {
  return { ...usual, areArgumentsEqual: true, inColumns };
}

/** @param transaction by number */
export function chosenColumn(transaction: number, result: string, column: string): string {
  return JSON.stringify([transaction, result, column]);
}
