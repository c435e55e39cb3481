/** What expressions mean. Functions, operators and literals have tables of their own. */
export interface ExpressionRules {
  /** Every type is converted to every other, wherever it stands: texts are compared with numbers as numbers, truth is 0 or 1. */
  readonly convertsAll: boolean;
  /** A literal in quotes is a text. Otherwise it takes the type of what it is used with. */
  readonly quotedIsText: boolean;
  /** Truth values are the integers 0 and 1. */
  readonly truthIsInteger: boolean;
  /** GREATEST and LEAST are NULL where one of the values is. Otherwise NULLs are left out. */
  readonly nullIsExtreme: boolean;
  /** Exact numbers of one column have the same number of digits: the most that any of them may have, where that is known. */
  readonly sharesScale: boolean;
  /** Does a date or time show as many digits of the second as its column has, also in its text? */
  readonly keepsSecondDigits: boolean;
  /** The members of an IN list take one type. Otherwise each is compared for itself. */
  readonly listsHaveOneType: boolean;
  /** The name of a type is a function with one argument: a cast. */
  readonly typesAreFunctions: boolean;
  /** An aggregate of DISTINCT values takes them in their order. */
  readonly distinctIsOrdered: boolean;
  /** CAST between signed and unsigned integers keeps the bits. */
  readonly castsWrap: boolean;
  /** The names of collations are checked. */
  readonly checksCollations: boolean;
}
