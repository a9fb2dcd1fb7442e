// Lets Node run the sources as they are: `node -r` this file. A thread and a forked process inherit it. Types are the type check's; here every source is
// translated alone, and kept translated in node_modules/.cache, since a suite starts hundreds of threads and processes that read the same sources.

const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { join, relative, resolve } = require('node:path');
const { isMainThread, threadId } = require('node:worker_threads');

const projectFolder = resolve(__dirname, '../..');
const cacheFolder = join(projectFolder, 'node_modules/.cache/bcoin-rest/sources');
const settingsFile = join(projectFolder, 'tsconfig.json');

/** What the translation of a source depends on besides the source. */
const settings = [__filename, settingsFile, require.resolve('typescript/package.json')].map((path) => readFileSync(path));

mkdirSync(cacheFolder, { recursive: true });
// To map where errors were thrown takes a fourth of the time in which a thread or a forked process starts.
if (isMainThread && process.send === undefined) process.setSourceMapsEnabled(true);

require.extensions['.ts'] = (module, path) => {
  module._compile(translated(path), path);
};

/** The source at a path as JavaScript: as it was kept when source and settings are the same, otherwise translated now. */
function translated(path) {
  const source = readFileSync(path);
  const key = [...settings, path, source].reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');
  const kept = join(cacheFolder, relative(projectFolder, path).replaceAll(/[^a-z0-9.-]/gi, '_'));
  const text = readIfThere(kept);
  if (text?.endsWith(key)) return text;

  const made = `${translate(path, source.toString())}\n//${key}`;
  // Others may read it, or write the same, at this moment.
  const unfinished = `${kept}-${process.pid}-${threadId}`;
  try {
    writeFileSync(unfinished, made);
    renameSync(unfinished, kept);
  } catch {
    // Where nothing can be written, it is translated each time.
    rmSync(unfinished, { force: true });
  }
  return made;
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function translate(path, source) {
  const ts = require('typescript');
  const { config } = ts.readConfigFile(settingsFile, ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, projectFolder);
  const compilerOptions = { ...options, inlineSourceMap: true };
  const { outputText, diagnostics } = ts.transpileModule(source, { fileName: path, compilerOptions, reportDiagnostics: true });
  if (diagnostics.length > 0) {
    throw new SyntaxError(
      ts.formatDiagnostics(diagnostics, {
        getCurrentDirectory: () => projectFolder,
        getCanonicalFileName: (name) => name,
        getNewLine: () => '\n'
      })
    );
  }
  return outputText;
}
