// One process in which the built command line runs again and again: what a process costs at its start is paid once. Each command is a new instance
// of dist/cli/main.js with streams of its own; the modules below it are loaded once. The parent sends { args, cwd } and gets { code, out, err }.
import Module, { syncBuiltinESMExports } from 'node:module';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const main = new URL('../../dist/cli/main.js', import.meta.url).href;
const listened = ['exit', 'uncaughtException', 'SIGINT', 'SIGTERM', 'SIGHUP'];
/** Thrown where the process would end. */
const ended = new Error('the command has ended');
let commandsCount = 0;

// Hooks stay, and each command registers the same; those of tsx with another query each time.
const { register } = Module;
const registered = new Set();
Module.register = (specifier, ...rest) => {
  const [hooks] = String(specifier).split('?');
  if (registered.has(hooks)) return;
  registered.add(hooks);
  register(specifier, ...rest);
};
syncBuiltinESMExports();

process.on('message', async (command) => process.send(await run(command)));

async function run({ args, cwd }) {
  const printed = { out: '', err: '' };
  process.chdir(cwd);
  process.argv = [process.execPath, fileURLToPath(main), ...args];
  Object.defineProperty(process, 'stdout', { configurable: true, value: collecting((text) => (printed.out += text)) });
  Object.defineProperty(process, 'stderr', { configurable: true, value: collecting((text) => (printed.err += text)) });
  const code = await new Promise((resolve, reject) => {
    process.exit = (given) => {
      resolve(given);
      throw ended;
    };
    commandsCount += 1;
    import(`${main}?${commandsCount}`).catch((error) => error === ended || reject(error));
  });
  for (const event of listened) process.removeAllListeners(event);
  return { code, ...printed };
}

/** A stream that hands on at once what is written. */
function collecting(take) {
  const stream = new Writable();
  stream.write = (text, ...rest) => {
    take(typeof text === 'string' ? text : Buffer.from(text).toString());
    const done = rest.at(-1);
    try {
      if (typeof done === 'function') done();
    } catch (error) {
      if (error !== ended) throw error;
    }
    return true;
  };
  return stream;
}
