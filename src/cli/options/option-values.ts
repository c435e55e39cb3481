/** Option values as people type them. */
import { InputError } from '../../base/index.ts';
import type { CompactLevel } from '../../check/index.ts';
import { historyFormats } from '../../history/index.ts';
import {
  constrainingLevels,
  type ConstrainingLevel,
  isolationLevels,
  type IsolationLevel,
  parseLevel,
} from '../../isolation/index.ts';
import { strategyNames, type StrategyName } from '../../mockdb/index.ts';

/** For help texts. */
export const formatNames = historyFormats.map(({ name }) => name).join(', ');

/** @throws InputError `option/...` for what is not a whole number from `min` */
export function wholeNumber(option: string, min: number): (text: string) => number {
  return (text) => {
    const value = /^[-+]?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(value) && value >= min) return value;
    const least = min === Number.MIN_SAFE_INTEGER ? '' : ` of at least ${min}`;
    throw new InputError(`option/${option}`, `--${option} should be a whole number${least}, not "${text}"`);
  };
}

/** A port to listen on; 0 is any free one. */
export function portNumber(option: string): (text: string) => number {
  return (text) => {
    const value = wholeNumber(option, 0)(text);
    if (value <= 65_535) return value;
    throw new InputError(`option/${option}`, `--${option} should be at most 65535, not "${text}"`);
  };
}

export function rate(text: string): number {
  const value = decimal(text);
  if (value >= 0 && value < 1) return value;
  throw new InputError('option/abort-rate', `--abort-rate should be a number from 0 to below 1, not "${text}"`);
}

const secondsMax = 86_400;

/** Seconds, as milliseconds. */
export function seconds(option: 'timeout' | 'max-time' | 'seconds'): (text: string) => number {
  return (text) => {
    const value = decimal(text);
    if (value >= 0.001 && value <= secondsMax) return Math.round(value * 1_000);
    throw new InputError(
      `option/${option}`,
      `--${option} should be a number of seconds from 0.001 to ${secondsMax}, not "${text}"`,
    );
  };
}

function decimal(text: string): number {
  return /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
}

export function storeLevel(text: string): ConstrainingLevel | 'all' {
  return text === 'all' ? 'all' : parseLevel(text, constrainingLevels);
}

function anyLevel(text: string): IsolationLevel {
  return parseLevel(text, isolationLevels);
}

/** A level that histories are checked at: those of stores, and Adya's PL-2. */
export function checkedLevel(text: string): CompactLevel {
  return text === 'pl-2' ? text : anyLevel(text);
}

export function storeStrategy(text: string): StrategyName {
  return oneOf('strategy', strategyNames)(text);
}

export function oneOf<Name extends string>(option: string, names: readonly Name[]): (text: string) => Name {
  return (text) => {
    const found = names.find((name) => name === text);
    if (found !== undefined) return found;
    throw new InputError(`option/${option}`, `--${option} should be one of ${names.join(', ')}, not "${text}"`);
  };
}
