import { defineConfig } from 'vite';

// The page to try Lehr in a browser, as one classic script: a page that is opened from disk may load no module. `tools/try_page.py` puts it together with the
// engine.
export default defineConfig({
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'iife' },
  build: {
    outDir: '../target/try/parts',
    target: 'es2022',
    emptyOutDir: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    minify: false,
    cssMinify: 'lightningcss',
    rolldownOptions: {
      input: 'src/try/page.tsx',
      output: {
        format: 'iife',
        entryFileNames: 'try.js',
        assetFileNames: 'try[extname]',
        minify: true,
        comments: { legal: true, annotation: false, jsdoc: false },
      },
    },
  },
});
