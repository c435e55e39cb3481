/** Type-checks modules that exist only as text, under the compiler options of this project. */
import { join } from 'node:path';
import ts from 'typescript';
import { root } from './cli.ts';

/** @param modules paths from the root of the project, to their text; @returns one line for each error */
export function typeErrors(modules: ReadonlyMap<string, string>): string[] {
  const files = new Map([...modules].map(([path, text]) => [join(root, path), text]));
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: unknown;
  };
  // A user's code is not held to the rules of our own.
  const options = {
    ...ts.parseJsonConfigFileContent(config, ts.sys, root).options,
    noUnusedLocals: false,
    noUnusedParameters: false,
  };
  const host = ts.createCompilerHost(options);
  const readFile = host.readFile.bind(host);
  host.readFile = (path) => files.get(path) ?? readFile(path);
  const fileExists = host.fileExists.bind(host);
  host.fileExists = (path) => files.has(path) || fileExists(path);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getSourceFile = (path, languageVersion, ...rest) => {
    const text = files.get(path);
    return text === undefined
      ? getSourceFile(path, languageVersion, ...rest)
      : ts.createSourceFile(path, text, languageVersion, true);
  };
  const checked = ts.createProgram([...files.keys()], options, host);
  return [...files.keys()].flatMap((path) => {
    const source = checked.getSourceFile(path);
    return ts
      .getPreEmitDiagnostics(checked, source)
      .map(
        (diagnostic) => `${path.slice(root.length)}: ${ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ')}`,
      );
  });
}
