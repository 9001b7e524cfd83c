/* Makes the search work in pages opened from a folder. Browsers refuse workers there (file://), so a hidden frame runs
   the worker's script instead. The theme knows this file by its name; on a server it does nothing. */
"use strict";

(() => {
  if (location.protocol !== "file:") return;

  const PRELUDE = `
    window.postMessage = (data) => frameElement.worker.dispatchEvent(new MessageEvent("message", { data }));
    window.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = url;
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    })), Promise.resolve());
  `;

  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.worker = this;
      frame.srcdoc = `<!doctype html><script>${PRELUDE}</script><script src="${url}"></script>`;
      this.loaded = new Promise((resolve) => frame.addEventListener("load", () => resolve(frame.contentWindow)));
      document.body.append(frame);
    }

    postMessage(data) {
      this.loaded.then((target) => target.dispatchEvent(new MessageEvent("message", { data })));
    }
  }

  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
})();
