/**
 * How far a backtracking engine may try: at most about n ** degree steps on a text of n characters. Each quantifier that leaves a choice and each group
 * with alternatives may be tried at every place; one of them inside a quantified group may take exponential time: Infinity.
 */

interface Group {
  /** Does something in it leave a choice? */
  hasChoice: boolean;
  hasAlternatives: boolean;
}

/** @param source of a JavaScript RegExp */
export function regexDegree(source: string): number {
  let degree = source.startsWith('^') ? 0 : 1;
  let isExponential = false;
  const groups: Group[] = [{ hasChoice: false, hasAlternatives: false }];
  for (const [token] of source.matchAll(tokens)) {
    const group = groups.at(-1) as Group;
    if (token.startsWith('(')) groups.push({ hasChoice: false, hasAlternatives: false });
    else if (token === '|') group.hasAlternatives = true;
    else if (token.startsWith(')')) {
      groups.pop();
      const outer = groups.at(-1);
      const repeats = token.length > 1;
      if (outer === undefined) return Infinity;
      if (group.hasAlternatives) degree += 1;
      if (repeats) degree += 1;
      if (repeats && token !== ')?' && (group.hasChoice || group.hasAlternatives)) isExponential = true;
      outer.hasChoice ||= repeats || group.hasChoice || group.hasAlternatives;
    } else if (/^\\[1-9]/.test(token)) isExponential = true;
    else if (leavesChoice.test(token)) {
      degree += 1;
      group.hasChoice = true;
    }
  }
  return isExponential ? Infinity : degree;
}

/** A group's start; its end with what quantifies it; alternatives; an escape or a class or a character with its quantifier. */
const tokens =
  /\((?:\?(?:<?[=!]|:))?|\)(?:[*+?]|\{\d+(?:,\d*)?\})?|\||(?:\\(?:[pP]\{[^}]*\}|u[0-9a-fA-F]{4}|[^])|\[(?:\\[^]|[^\]\\])*\]|[^()|\\[\]])(?:[*+?]|\{\d+(?:,\d*)?\})?/g;

const leavesChoice = /(?:[*+?]|\{\d+,\d*\})$/;
