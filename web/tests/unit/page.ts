// What a browser gives every page, as far as modules ask for it when they are loaded.

Object.assign(globalThis, {
  location: new URL('http://127.0.0.1:8420/~/'),
  document: { baseURI: 'http://127.0.0.1:8420/~/' },
  addEventListener: () => {},
  matchMedia: () => ({ matches: false, addEventListener: () => {} }),
});
