import { createHash } from 'node:crypto';
import { defineConfig, type Plugin } from 'vite';

/// What the policy of a page names: only this script may run there.
const hash: Plugin = {
  name: 'hash',
  generateBundle(_, bundle) {
    const script = bundle['report.js'];
    if (script.type === 'chunk') this.emitFile({ type: 'asset', fileName: 'report.sha256', source: createHash('sha256').update(script.code).digest('base64') });
  },
};

// The script and the style of reports: one classic script, since a page that is opened from disk may load no module. `crates/report` puts both into its pages.
export default defineConfig({
  plugins: [hash],
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    emptyOutDir: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    minify: false,
    cssMinify: 'lightningcss',
    rolldownOptions: {
      input: 'src/report.tsx',
      output: {
        format: 'iife',
        entryFileNames: 'report.js',
        assetFileNames: 'report[extname]',
        minify: true,
        comments: { legal: true, annotation: false, jsdoc: false },
      },
    },
  },
});
