#include "history/notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void drop_all(struct kf_notes *notes)
{
    for (size_t k = 0; k < notes->count; k++)
        free((void *)(uintptr_t)notes->note[k].bytes);
    notes->count = 0;
}

bool kf_notes_take(struct kf_notes *notes, const struct kf_note *note)
{
    struct kf_note own = *note;
    unsigned char *bytes = kf_allocate_raw(note->count + 1);
    if (!bytes || !KF_RESERVE(notes->note, notes->capacity, notes->count + 1)) {
        free(bytes);
        return false;
    }
    if (note->count)
        memcpy(bytes, note->bytes, note->count);
    own.bytes = bytes;
    if (note->instead)
        drop_all(notes);
    notes->note[notes->count++] = own;
    return true;
}

void kf_notes_free(struct kf_notes *notes)
{
    drop_all(notes);
    free(notes->note);
    *notes = (struct kf_notes){0};
}

struct kf_note kf_record_note(const struct kf_record *record)
{
    return (struct kf_note){
        .bytes = (const unsigned char *)record->row,
        .count = record->count,
        .points = record->arrival,
        .instead = record->target != 0,
    };
}
