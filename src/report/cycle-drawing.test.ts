import { expect, test } from 'vitest';
import { type CycleDrawing, formatDot, formatMermaid } from './cycle-drawing.ts';

const drawing: CycleDrawing = {
  title: 'h: lost update',
  nodes: [
    { id: 'a/0', lines: ['a/0', 'read x = "1"'] },
    { id: 'b\\/0', lines: ['b\\/0'] },
  ],
  edges: [
    { from: 'a/0', to: 'b\\/0', relation: 'rw', key: 'x' },
    { from: 'b\\/0', to: 'a/0', relation: 'so', key: null },
  ],
};

test('DOT', () => {
  expect(formatDot([drawing])).toBe(String.raw`digraph "h: lost update" {
  label="h: lost update";
  node [shape=box];
  t0 [label="a/0\lread x = \"1\"\l"];
  t1 [label="b\\/0"];
  t0 -> t1 [label="rw x"];
  t1 -> t0 [label="so"];
}
`);
});

test('Mermaid', () => {
  expect(formatMermaid([drawing])).toBe(`---
title: "h: lost update"
---
flowchart TD
  t0["a/0<br/>read x = #34;1#34;"]
  t1["b#92;/0"]
  t0 -->|"rw x"| t1
  t1 -->|"so"| t0
`);
});

test('several, and none', () => {
  expect(formatDot([drawing, drawing]).match(/^digraph/gm)).toHaveLength(2);
  expect(formatMermaid([])).toBe('');
});
