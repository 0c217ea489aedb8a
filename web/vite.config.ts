import { defineConfig } from 'vitest/config';

// Names without hashes: `crates/web` lists the files, and a tag of their content tells browsers when one is new.
export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    // `output.minify` does it for scripts of all formats.
    minify: false,
    cssMinify: 'lightningcss',
    rolldownOptions: {
      output: {
        entryFileNames: 'app.js',
        chunkFileNames: '[name].js',
        assetFileNames: '[name][extname]',
        // A file for Preact, which all files use. Without this group, the name of that file would change with the modules beside Preact.
        codeSplitting: { groups: [{ name: 'preact', test: /node_modules.@?preact/ }] },
        minify: true,
        comments: { legal: true, annotation: false, jsdoc: false },
      },
    },
  },
  server: {
    // A node to develop against; everything that is no file of the viewer is asked of it.
    proxy: {
      '^/(?!~/|src/|node_modules/|@)': { target: process.env.LEHR_NODE ?? 'http://127.0.0.1:8420', changeOrigin: true },
    },
  },
  test: { include: ['tests/unit/**/*.test.ts'], setupFiles: ['tests/unit/page.ts'] },
});
