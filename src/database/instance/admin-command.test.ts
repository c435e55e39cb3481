import { describe, expect, test } from 'vitest';
import { adminCommandOf } from './admin-command.ts';

describe('adminCommandOf', () => {
  test.each([
    ['/* moirai reset */', { kind: 'reset' }],
    ['  /*moirai seed -7*/ ;', { kind: 'seed', seed: -7 }],
    ['/* moirai level snapshot-isolation */', { kind: 'level', level: 'snapshot-isolation' }],
    ['/* moirai level repeatable  read */', { kind: 'level', level: 'repeatable read' }],
    ['/* moirai strong reads on */', { kind: 'strong-reads', isOn: true }],
  ])('reads %s', (sql, command) => expect(adminCommandOf(sql)).toEqual(command));

  test.each(['select 1', '/* moirai reset */ select 1', "select '/* moirai reset */'", '-- moirai reset'])(
    'leaves SQL alone: %s',
    (sql) => expect(adminCommandOf(sql)).toBeNull(),
  );

  test.each(['/* moirai */', '/* moirai seed x */', '/* moirai explode */'])('refuses %s', (sql) =>
    expect(() => adminCommandOf(sql)).toThrow('moirai knows no command'),
  );
});
