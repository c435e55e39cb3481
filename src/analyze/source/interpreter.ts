/** Puts the parts of the source reader together. */
import type { Dialect } from '../application.ts';
import type ts from 'typescript';
import { type Abstract, type Choice, type External, Memory, never, type Scope, unknown } from './abstract-value.ts';
import { call, construct, injectedInstance, invoke, pathsMax } from './calls.ts';
import { withFewForms } from './builders/chain.ts';
import { runSometime } from './run-sometime.ts';
import { fork, loop, raise } from './control.ts';
import { drivers } from './drivers/index.ts';
import { opaqueHandle, opaqueTransaction } from './drivers/opaque-handle.ts';
import { sqlHelper, textHandle, textTag } from './drivers/text-handle.ts';
import { Emitter } from './emitter.ts';
import { StepLimit, TooLarge } from './step-limit.ts';
import { evaluate } from './expressions.ts';
import { type FoundUnit, normalCompletion, type Machine } from './machine.ts';
import { member } from './members.ts';
import { methodByName } from './methods-by-name.ts';
import { passesHandle, unreadCall } from './missing-modules.ts';
import { evaluateSymbol, externalAlias, wholeExport } from './names.ts';
import { unreadDrivers } from './drivers/unread.ts';
import type { Project } from './project.ts';
import { Reached } from './reached.ts';
import { routesOf } from './routes.ts';
import { runSql } from './sql-steps.ts';
import { bind, runBlock } from './statements.ts';
import { beginTransaction, inTransaction } from './transactions.ts';
import type { TableColumns } from './table-columns.ts';
import { choose } from './value-arithmetic.ts';
import { Globals } from './globals.ts';

export interface InterpreterOptions {
  readonly project: Project;
  readonly dialect: Dialect;
  readonly tables: TableColumns;
  /** Of all expressions of a unit. */
  readonly stepsMax: number;
  readonly found: (unit: FoundUnit) => void;
}

/** Expressions in each other, through the functions that they call: half of what Node's stack takes. */
const depthMax = 600;

/** A property of one side of a choice is found faster than an expression is evaluated. */
const stepsOfSide = 1 / 4;

/** Its text is put together from all clauses, and parsed. */
const stepsOfStatement = 20;

export function interpreter({ project, dialect, tables, stepsMax, found }: InterpreterOptions): Machine {
  const steps = new StepLimit(stepsMax);
  let depth = 0;
  const machine: Machine = {
    project,
    dialect,
    tables,
    found,
    memory: new Memory(),
    globals: new Globals(),
    emitter: new Emitter(),
    frames: [],
    handlers: [],
    called: new Set(),
    made: new Map(),
    given: new Map(),
    shown: [],
    attached: new Map(),
    middleware: [],
    mounts: [],
    reached: new Reached(),
    assumed: new Set(),
    isSetup: false,
    isCallerLost: false,
    evaluateSymbol: (symbol) => evaluateSymbol(machine, symbol),
    lookAtSide: () => steps.take(stepsOfSide),
    restart: () => {
      steps.restart();
      machine.isCallerLost = false;
      machine.emitter = new Emitter();
      machine.frames = [];
      machine.handlers = [];
      machine.called.clear();
      machine.given.clear();
      machine.shown.length = 0;
      machine.attached.clear();
    },
    evaluate: (node, scope) => {
      steps.take(1);
      if (depth === depthMax) throw new TooLarge('a unit is too deep');
      depth++;
      try {
        return evaluate(machine, node, scope);
      } finally {
        depth--;
      }
    },
    ofType: (node, scope) => ofType(machine, node, scope),
    modelOf: (external, type) => drivers.modelOf(machine, external, type),
    member: (object, name, at) => member(machine, object, name, at),
    outsideMember: (name) => drivers.outsideMember(machine, name),
    call: (callee, args, at) =>
      callDriver(machine, callee, args, at) ??
      routesOf(machine, callee, args, at) ??
      opaqueTransaction(machine, callee, args, at) ??
      opaqueHandle(machine, callee, args, at) ??
      methodByName(machine, callee, args, at) ??
      sqlHelper(machine, callee, args, at) ??
      textHandle(machine, callee, args, at) ??
      call(machine, callee, args, at),
    invoke: (fn, args, at) => invoke(machine, fn, args, at),
    construct: (callee, args, at) => {
      const known = callee.kind === 'external' ? resolveExternal(machine, callee) : callee;
      const made = known.kind === 'external' ? drivers.construct(machine, known, args, at) : undefined;
      return made ?? construct(machine, callee, args, at);
    },
    passesHandle: (callee, args, at) => passesHandle(machine, callee, args, at),
    external: (external) => resolveExternal(machine, external),
    textTag: (tag, texts, at) => textTag(machine, tag, texts, at),
    bind: (name, value, scope) => bind(machine, name, value, scope),
    settle: (value, at) => settle(machine, value, at),
    block: (statements, scope) => runBlock(machine, statements, scope),
    fork: (condition, ifTrue, ifFalse) => fork(machine, condition, ifTrue, ifFalse),
    raise: () => raise(machine),
    loop: (name, over, body) => loop(machine, name, over, body),
    statement: (owner, sql) => {
      steps.take(stepsOfStatement);
      return runSql(machine, owner, sql);
    },
    begin: (connection, level, at) => beginTransaction(machine, connection, level, at),
    commit: (connection) => {
      if (machine.emitter.open?.connection === connection) machine.emitter.end('commit');
    },
    rollback: (connection) => {
      if (machine.emitter.open?.connection === connection) machine.emitter.end('abort');
    },
    inTransaction: (connection, level, at, body) => inTransaction(machine, connection, level, at, body),
    savepoint: (connection, name) => {
      if (machine.emitter.open?.connection === connection) machine.emitter.push({ kind: 'savepoint', name });
    },
    notUnderstood: (at, reason) => {
      machine.reached.step(project.place(at), [at, ...machine.frames.map(({ call: one }) => one)]);
      machine.emitter.notUnderstood(project.place(at), reason);
    },
    place: (at) => project.place(at),
  };
  return machine;
}

function callDriver(machine: Machine, callee: Abstract, args: readonly Abstract[], at: ts.Node): Abstract | undefined {
  if (callee.kind !== 'external') return undefined;
  const known = resolveExternal(machine, callee);
  return known.kind === 'external' ? drivers.call(machine, known, args, at) : undefined;
}

/** `await`. */
function settle(machine: Machine, value: Abstract, at: ts.Node): Abstract {
  if (value.kind === 'native' && value.settle !== undefined) return value.settle(at);
  if (value.kind === 'choice' && formsOf(value) > 0) {
    const few = withFewForms(value);
    if (few !== value) return settle(machine, few, at);
    if (formsOf(value) <= pathsMax) return settleEither(machine, value, at);
    machine.notUnderstood(
      at,
      `too many paths: the statement has more than ${pathsMax} forms, one for each combination of its conditions`,
    );
    return unknown('what a statement of too many forms gives');
  }
  if (value.kind === 'external' && isUnreadDriver(value)) {
    machine.notUnderstood(at, `${value.module} is not read`);
    return unknown(`what ${value.module} gives`);
  }
  const unread = value.kind === 'external' ? unreadCall(machine, value, at) : undefined;
  if (unread !== undefined) machine.notUnderstood(at, unread);
  if (value.kind === 'external' && value.made !== undefined && machine.frames.length > 0)
    return settleCallbacks(machine, value, at);
  return value;
}

/** Choices within choices share their sides. */
const forms = new WeakMap<Choice, number>();

/** Statements that run when it is awaited, one for each path. */
function formsOf(value: Abstract): number {
  if (value.kind !== 'choice') return value.kind === 'native' && value.settle !== undefined ? 1 : 0;
  const count = forms.get(value) ?? formsOf(value.ifTrue) + formsOf(value.ifFalse);
  forms.set(value, count);
  return count;
}

function settleEither(machine: Machine, { condition, ifTrue, ifFalse }: Choice, at: ts.Node): Abstract {
  let [a, b]: [Abstract, Abstract] = [never, never];
  machine.fork(
    condition,
    () => ((a = settle(machine, ifTrue, at)), normalCompletion),
    () => ((b = settle(machine, ifFalse, at)), normalCompletion),
  );
  return choose(condition, a, b);
}

/** A call of a database library that the reader does not know. */
function isUnreadDriver({ module, path }: External): boolean {
  return path.includes('()') && unreadDrivers.test(module);
}

/** `await retry(() => ...)`: a function outside the sources that calls ours. Of one function it is taken to give the result. */
function settleCallbacks(machine: Machine, value: External, at: ts.Node): Abstract {
  const [first, ...others] = value.made ?? [];
  if (first !== undefined && others.length === 0) {
    const args = first.node.parameters.map(({ name }) => unknown(`what ${name.getText()} is`));
    return machine.settle(machine.invoke(first, args, at), at);
  }
  for (const fn of value.made ?? [])
    runSometime(machine, fn, { reason: `how often ${value.module} calls its function`, given: value.given ?? [] }, at);
  return unknown(`what ${value.module} gives`);
}

/** `require('./db')`, a driver's function; itself where it is neither. */
function resolveExternal(machine: Machine, external: External): Abstract {
  const { module, path } = external;
  if (path[0] !== '#require') return drivers.value(machine, external) ?? external;
  const from = machine.project.files.find(({ fileName }) => fileName === path[1]);
  const file = from === undefined ? undefined : machine.project.resolve(module, from);
  const [, , ...rest] = path;
  if (file === undefined) return resolveExternal(machine, { ...external, path: rest });
  return wholeExport(machine, file.fileName) ?? { kind: 'external', module: '#file', path: [file.fileName, ...rest] };
}

function ofType(machine: Machine, node: ts.TypeNode | undefined, scope: Scope): Abstract | undefined {
  const { ts, checker } = machine.project;
  if (node === undefined) return undefined;
  if (ts.isUnionTypeNode(node)) {
    for (const type of node.types) {
      const value = ofType(machine, type, scope);
      if (value !== undefined) return value;
    }
    return undefined;
  }
  if (ts.isTypeQueryNode(node))
    return ts.isIdentifier(node.exprName) ? machine.evaluate(node.exprName, scope) : undefined;
  if (ts.isIndexedAccessTypeNode(node)) return transactionParameter(machine, node, scope);
  if (ts.isExpressionWithTypeArguments(node)) return ofHeritage(machine, node);
  if (!ts.isTypeReferenceNode(node)) return undefined;
  const name = ts.isQualifiedName(node.typeName) ? node.typeName.left : node.typeName;
  let symbol = checker.getSymbolAtLocation(name);
  if (symbol === undefined) return undefined;
  const outside = (symbol.flags & ts.SymbolFlags.Alias) === 0 ? undefined : externalAlias(machine, symbol);
  if (outside !== undefined) {
    const path = ts.isQualifiedName(node.typeName) ? [...outside.path, node.typeName.right.text] : outside.path;
    const types = (node.typeArguments ?? []).map((type) => () => namedByType(machine, type));
    return drivers.ofType(machine, { ...outside, path }, types);
  }
  if ((symbol.flags & ts.SymbolFlags.Alias) !== 0) symbol = checker.getAliasedSymbol(symbol);
  const declaration = symbol.declarations?.[0];
  if (declaration === undefined) return undefined;
  if (ts.isTypeAliasDeclaration(declaration)) return ofType(machine, declaration.type, machine.globals.scope);
  if (ts.isInterfaceDeclaration(declaration)) return onlyImplementation(machine, symbol, node);
  if (!ts.isClassDeclaration(declaration)) return undefined;
  const type = evaluateSymbol(machine, symbol);
  return type.kind === 'class' ? injectedInstance(machine, type, node) : undefined;
}

/** The class of the sources that a type names, or the value of `typeof x`. */
function namedByType(machine: Machine, node: ts.TypeNode): Abstract | undefined {
  const { ts, checker } = machine.project;
  if (ts.isTypeQueryNode(node) && ts.isIdentifier(node.exprName))
    return machine.evaluate(node.exprName, machine.globals.scope);
  const inner = ts.isTypeReferenceNode(node) ? node.typeName : undefined;
  let symbol = inner === undefined ? undefined : checker.getSymbolAtLocation(inner);
  if (symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0) symbol = checker.getAliasedSymbol(symbol);
  const isClass = symbol?.declarations?.some(ts.isClassDeclaration) === true;
  return symbol !== undefined && isClass ? evaluateSymbol(machine, symbol) : undefined;
}

/** `Parameters<Parameters<typeof db.transaction>[0]>[0]`: the handle that `db.transaction` gives to its function. */
function transactionParameter(machine: Machine, node: ts.TypeNode, scope: Scope): Abstract | undefined {
  const { ts } = machine.project;
  const find = (part: ts.Node): ts.QualifiedName | undefined =>
    ts.isTypeQueryNode(part) && ts.isQualifiedName(part.exprName) ? part.exprName : ts.forEachChild(part, find);
  const name = find(node);
  if (name === undefined || !ts.isIdentifier(name.left) || !/transaction$/i.test(name.right.text)) return undefined;
  const handle = machine.evaluate(name.left, scope);
  return handle.kind === 'native' ? handle.inTransaction?.() : undefined;
}

/** `Repository<User>` behind `extends`. */
function ofHeritage(machine: Machine, node: ts.ExpressionWithTypeArguments): Abstract | undefined {
  const value = machine.evaluate(node.expression, machine.globals.scope);
  const types = (node.typeArguments ?? []).map((type) => () => namedByType(machine, type));
  return value.kind === 'external' ? drivers.ofType(machine, value, types) : undefined;
}

/** An instance of the one class of the sources that implements an interface; `undefined` where there is none, or several. */
function onlyImplementation(machine: Machine, type: ts.Symbol, at: ts.Node): Abstract | undefined {
  const [only, ...others] = implementationsIn(machine).get(type) ?? [];
  if (only === undefined || others.length > 0) return undefined;
  const value = evaluateSymbol(machine, only);
  return value.kind === 'class' ? injectedInstance(machine, value, at) : undefined;
}

const implementations = new WeakMap<Project, ReadonlyMap<ts.Symbol, readonly ts.Symbol[]>>();

/** The classes of the sources, by interface. */
function implementationsIn(machine: Machine): ReadonlyMap<ts.Symbol, readonly ts.Symbol[]> {
  const { project } = machine;
  const { ts, checker, files } = project;
  const known = implementations.get(project);
  if (known !== undefined) return known;
  const found = new Map<ts.Symbol, ts.Symbol[]>();
  const visit = (node: ts.Node): void => {
    const symbol =
      ts.isClassDeclaration(node) && node.name !== undefined ? checker.getSymbolAtLocation(node.name) : undefined;
    if (symbol !== undefined && ts.isClassDeclaration(node)) {
      for (const { token, types } of node.heritageClauses ?? []) {
        if (token !== ts.SyntaxKind.ImplementsKeyword) continue;
        for (const { expression } of types) {
          const type = declaredSymbol(machine, expression);
          if (type !== undefined) found.set(type, [...(found.get(type) ?? []), symbol]);
        }
      }
    }
    ts.forEachChild(node, visit);
  };
  files.forEach(visit);
  implementations.set(project, found);
  return found;
}

/** What a name stands for, through imports. */
function declaredSymbol(machine: Machine, node: ts.Node): ts.Symbol | undefined {
  const { ts, checker } = machine.project;
  const symbol = checker.getSymbolAtLocation(node);
  return symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0
    ? checker.getAliasedSymbol(symbol)
    : symbol;
}
