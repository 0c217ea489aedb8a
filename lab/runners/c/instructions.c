/* A plugin of QEMU's user emulation that counts instructions: qemu-aarch64 -plugin FILE -d plugin PROGRAM prints their number at the end.
 *
 * QEMU's own header is not installed with it, so what is used of its interface (version 1, QEMU 4.2 to 8.1) is declared here. */
#include <stdint.h>
#include <stdio.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*translated)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation, void *counter, uint64_t number);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*ended)(qemu_plugin_id_t, void *), void *data);
void qemu_plugin_outs(const char *text);

int qemu_plugin_version = 1;

/* The only operation there is: adds a number to a counter. */
#define ADD 0

static uint64_t instructions;

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD, &instructions, qemu_plugin_tb_n_insns(block));
}

static void ended(qemu_plugin_id_t id, void *data) {
    (void)id;
    (void)data;
    char text[64];
    snprintf(text, sizeof text, "instructions %llu\n", (unsigned long long)instructions);
    qemu_plugin_outs(text);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int count, char **arguments) {
    (void)info;
    (void)count;
    (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
