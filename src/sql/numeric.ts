/** Exact decimals: the library's number, and the scale with which SQL shows it. */
import { Decimal } from 'decimal.js';

export interface Numeric {
  readonly kind: 'numeric';
  readonly value: Decimal;
  /** Digits after the point. */
  readonly scale: number;
}
