import type { Level, RowAccess } from './access.ts';

/**
 * A transaction as a program writes it: statements over rows that its arguments and earlier results name. Any number of instances run, each with
 * rows of its own. A program with branches is several templates, one a path.
 */
export interface Template {
  readonly name: string;
  readonly statements: readonly TemplateStatement[];
  /** Numbers of those whose reads hold no lock: another transaction may overwrite what they read, and commit first. Default: all, locks of rows apart. */
  readonly unlocked?: ReadonlySet<number>;
}

export type TemplateStatement = readonly TemplateAccess[];

export interface TemplateAccess extends RowAccess {
  /** A table, by number. */
  readonly table: number;
  readonly row: TemplateRow;
  /** Rows that its row refers to, or all rows that its condition finds. Default: not known. */
  readonly parents?: readonly TemplateParent[];
}

/** A row to which rows of another table, or of the same one, refer by a column that never changes. */
export interface TemplateParent {
  /** The column and the key that it has the values of, by number. Accesses of which it leads to different rows are of different rows themselves. */
  readonly reference: number;
  /** The table of the parent, by number. */
  readonly table: number;
  readonly row: NamedTemplateRow;
}

/**
 * Which row: the one with a key that is a variable of the template (two variables of one table may be the same row), the one with a key that is
 * written in the program, or whatever a condition finds. A condition reads every row of the table; what it writes may be any of them, or none. `taken`: it reads none but those that it writes or locks.
 */
export type TemplateRow = NamedTemplateRow | { readonly kind: 'condition' | 'taken' };

export type NamedTemplateRow =
  | { readonly kind: 'variable'; readonly variable: number }
  | { readonly kind: 'constant'; readonly constant: number };

/** Levels by template, in the order of the templates. */
export type Allocation = readonly Level[];
