/** The evidence of a violated verdict in words, drawn as a ring: every line leads to the next, the last to the first. */
import type { History, TransactionIndex } from '../history/index.ts';
import { exampleOf, explain, explainChoice, type Violated } from '../isolation/index.ts';
import { printable, truncate, wrap } from './display-text.ts';

/** Lines without line breaks, of at most `width` columns. */
export function formatCycle(history: History, verdict: Violated, width = 80): string[] {
  const example = exampleOf(verdict);
  if (example !== verdict) {
    const assumed = explainChoice(history, verdict).flatMap((line) =>
      wrap(truncate(printable(line), 4 * width), width),
    );
    return [...assumed, ...formatCycle(history, example, width)];
  }
  const sentences = explain(history, verdict).map((sentence, i) => {
    const relation = verdict.cycle[i]?.relation;
    return truncate(printable(sentence), 2 * width) + (relation === undefined ? '' : ` (${relation})`);
  });
  if (sentences.length === 1) return wrap(sentences[0] as string, width);
  return sentences.flatMap((sentence, i) => {
    const isLast = i === sentences.length - 1;
    const [first = '', ...rest] = wrap(sentence, width - 4);
    return [
      `${i === 0 ? '.-> ' : isLast ? "'-- " : '|   '}${first}`,
      ...rest.map((line) => `${isLast ? '    ' : '|   '}${line}`),
    ];
  });
}

/** The transactions that the evidence speaks of, without the initial one. */
export function transactionsOf(verdict: Violated): TransactionIndex[] {
  const { read, cycle, choices = [] } = verdict;
  const named = read === undefined ? cycle.flatMap(({ from, to }) => [from, to]) : [read.from, read.by];
  const ofChoices = choices.flatMap((choice) => transactionsOf(choice.verdict));
  return [...new Set([...named, ...ofChoices])].filter((t) => t >= 0).toSorted((a, b) => a - b);
}
