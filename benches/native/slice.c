/* A slice of a parser in C: the text of chat completions, from bytes to events.

   It does for one kind of message what the package does for all: it cuts server-sent events out of reads that end
   anywhere, scans each message as JSON, and makes one event for each piece of text.  Pieces that hold a character with
   which a marker of a call may begin are counted, and the text is kept, as a whole parser would have to.
   Anything else (another field with a value, a comment, a line end of two bytes) is handed back as bytes: a whole
   parser would take it in Python.  There are no limits, no offsets, no errors and no calls.

   It exists to be measured and is no part of the package. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#define MAX_DEPTH 64

typedef struct {
    PyObject_HEAD
    PyObject *event;  /* the class of an event: called with the text */
    PyObject *texts;  /* all pieces so far */
    char *carry;      /* the beginning of an event whose end has not come */
    Py_ssize_t held, room;
    Py_ssize_t suspects, received;
} Reader;

/* -- JSON: a cursor over one message; each function returns where the value ends, or NULL ------------------------- */

typedef struct {
    const char *start, *end; /* of the text, with its quotes; NULL while there is none */
    int is_plain;            /* nothing in the message but text has a value that matters */
} Found;

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

static const char *skip_string(const char *at, const char *end)
{
    if (at >= end || *at != '"')
        return NULL;
    for (at++; at < end; at++) {
        if (*at == '"')
            return at + 1;
        if ((unsigned char)*at < 0x20)
            return NULL;
        if (*at == '\\')
            at++;
    }
    return NULL;
}

static const char *skip_word(const char *at, const char *end, const char *word, size_t size)
{
    return (size_t)(end - at) >= size && !memcmp(at, word, size) ? at + size : NULL;
}

static const char *skip_number(const char *at, const char *end)
{
    const char *start = at;
    while (at < end && strchr("+-.0123456789eE", *at) && *at)
        at++;
    return at > start ? at : NULL;
}

static const char *skip_value(const char *at, const char *end, int depth)
{
    char close;
    at = skip_space(at, end);
    if (at >= end || depth > MAX_DEPTH)
        return NULL;
    switch (*at) {
    case '"': return skip_string(at, end);
    case 't': return skip_word(at, end, "true", 4);
    case 'f': return skip_word(at, end, "false", 5);
    case 'n': return skip_word(at, end, "null", 4);
    case '{':
    case '[': break;
    default: return skip_number(at, end);
    }
    close = *at == '{' ? '}' : ']';
    at = skip_space(at + 1, end);
    if (at < end && *at == close)
        return at + 1;
    for (;;) {
        if (close == '}') {
            if (!(at = skip_string(skip_space(at, end), end)))
                return NULL;
            at = skip_space(at, end);
            if (at >= end || *at++ != ':')
                return NULL;
        }
        if (!(at = skip_value(at, end, depth + 1)))
            return NULL;
        at = skip_space(at, end);
        if (at >= end)
            return NULL;
        if (*at == close)
            return at + 1;
        if (*at++ != ',')
            return NULL;
    }
}

static int is_key(const char *key, const char *end, const char *name)
{
    size_t size = strlen(name);
    return (size_t)(end - key) == size + 2 && !memcmp(key + 1, name, size);
}

static int is_empty(const char *at)
{
    return *at == 'n' || (*at == '"' && at[1] == '"') || (*at == '[' && at[1] == ']');
}

static const char *read_object(const char *at, const char *end, int level, Found *found);

/* level 0: the message; 1: a choice; 2: its delta */
static const char *read_field(const char *key, const char *key_end, const char *at, const char *end, int level, Found *found)
{
    if (level == 0 && is_key(key, key_end, "choices") && *at == '[') {
        at = skip_space(at + 1, end);
        if (at >= end || *at != '{' || !(at = read_object(at, end, 1, found)))
            return NULL;
        at = skip_space(at, end);
        return at < end && *at == ']' ? at + 1 : NULL;
    }
    if (level == 1 && is_key(key, key_end, "delta") && *at == '{')
        return read_object(at, end, 2, found);
    if (level == 2 && is_key(key, key_end, "content") && *at == '"') {
        found->start = at;
        return found->end = skip_string(at, end);
    }
    if (level == 2 && !is_key(key, key_end, "role") && !is_empty(at))
        found->is_plain = 0;
    if (level == 1 && is_key(key, key_end, "finish_reason") && *at != 'n')
        found->is_plain = 0;
    if (level == 0 && (is_key(key, key_end, "usage") || is_key(key, key_end, "error")) && *at != 'n')
        found->is_plain = 0;
    return skip_value(at, end, level);
}

static const char *read_object(const char *at, const char *end, int level, Found *found)
{
    const char *key;
    at = skip_space(at + 1, end);
    if (at < end && *at == '}')
        return at + 1;
    for (;;) {
        const char *key_end;
        key = skip_space(at, end);
        if (!(key_end = skip_string(key, end)))
            return NULL;
        at = skip_space(key_end, end);
        if (at >= end || *at++ != ':')
            return NULL;
        at = skip_space(at, end);
        if (at >= end || !(at = read_field(key, key_end, at, end, level, found)))
            return NULL;
        at = skip_space(at, end);
        if (at >= end)
            return NULL;
        if (*at == '}')
            return at + 1;
        if (*at++ != ',')
            return NULL;
    }
}

/* -- text ------------------------------------------------------------------------------------------------------- */

static int read_hex(const char *at, const char *end, unsigned *value)
{
    *value = 0;
    if (end - at < 4)
        return 0;
    for (int digit = 0; digit < 4; digit++) {
        char c = at[digit];
        unsigned nibble = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 16;
        if (nibble > 15)
            return 0;
        *value = *value << 4 | nibble;
    }
    return 1;
}

static char *write_utf8(char *to, unsigned code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
        *to++ = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        *to++ = (char)(0xE0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    } else {
        *to++ = (char)(0xF0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 63));
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    }
    return to;
}

static PyObject *make_text(const char *at, const char *end)
{
    char small[512], *buffer = small, *to;
    PyObject *text = NULL;
    if (!memchr(at, '\\', (size_t)(end - at)))
        return PyUnicode_DecodeUTF8(at, end - at, NULL);
    if (end - at > (Py_ssize_t)sizeof small && !(buffer = PyMem_Malloc((size_t)(end - at))))
        return PyErr_NoMemory();
    for (to = buffer; at < end; at++) {
        static const char escapes[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
        const char *escape;
        unsigned code, low;
        if (*at != '\\') {
            *to++ = *at;
        } else if (*++at == 'u') {
            if (!read_hex(at + 1, end, &code))
                goto done;
            at += 4;
            if (code >= 0xD800 && code < 0xDC00 && end - at > 6 && at[1] == '\\' && at[2] == 'u' && read_hex(at + 3, end, &low)) {
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                at += 6;
            }
            to = write_utf8(to, code);
        } else if ((escape = *at ? strchr(escapes, *at) : NULL)) {
            *to++ = values[escape - escapes];
        } else {
            goto done;
        }
    }
    text = PyUnicode_DecodeUTF8(buffer, to - buffer, NULL);
done:
    if (buffer != small)
        PyMem_Free(buffer);
    return text;
}

static int may_open_marker(const char *at, const char *end)
{
    static const char opens[256] = {['<'] = 1, ['['] = 1, ['{'] = 1, ['`'] = 1, ['|'] = 1, ['>'] = 1, [':'] = 1};
    for (; at < end; at++)
        if (opens[(unsigned char)*at])
            return 1;
    return 0;
}

/* -- the reader -------------------------------------------------------------------------------------------------- */

static int append(PyObject *list, PyObject *item)
{
    int result = item ? PyList_Append(list, item) : -1;
    Py_XDECREF(item);
    return result;
}

/* One event, without the blank line behind it. */
static int take_event(Reader *self, const char *at, const char *end, PyObject *events)
{
    Found found = {NULL, NULL, 1};
    PyObject *text, *event;
    const char *close;
    int failed;
    if (end - at < 8 || memcmp(at, "data: {", 7) || memchr(at, '\n', (size_t)(end - at)))
        return append(events, PyBytes_FromStringAndSize(at, end - at));
    close = read_object(at + 6, end, 0, &found);
    if (!close || skip_space(close, end) != end || !found.is_plain || !found.start)
        return append(events, PyBytes_FromStringAndSize(at, end - at));
    if (found.end - found.start == 2)
        return 0;
    if (!(text = make_text(found.start + 1, found.end - 1))) {
        PyErr_Clear();
        return append(events, PyBytes_FromStringAndSize(at, end - at));
    }
    self->suspects += may_open_marker(found.start + 1, found.end - 1);
    event = PyObject_Vectorcall(self->event, &text, 1, NULL);
    failed = PyList_Append(self->texts, text) < 0;
    Py_DECREF(text);
    if (failed) {
        Py_XDECREF(event);
        return -1;
    }
    return append(events, event);
}

static int keep(Reader *self, const char *at, Py_ssize_t size)
{
    if (self->held + size > self->room) {
        char *grown = PyMem_Realloc(self->carry, (size_t)(2 * (self->held + size)));
        if (!grown) {
            PyErr_NoMemory();
            return -1;
        }
        self->carry = grown;
        self->room = 2 * (self->held + size);
    }
    memcpy(self->carry + self->held, at, (size_t)size);
    self->held += size;
    return 0;
}

/* Where the next blank line begins; `from` is where it may begin at the earliest. */
static const char *find_blank_line(const char *from, const char *end)
{
    while (from < end && (from = memchr(from, '\n', (size_t)(end - from)))) {
        if (from + 1 < end && from[1] == '\n')
            return from;
        from++;
    }
    return NULL;
}

static PyObject *reader_feed(Reader *self, PyObject *chunk)
{
    PyObject *events;
    const char *at, *end, *blank;
    int is_carried;
    if (!PyBytes_CheckExact(chunk)) {
        PyErr_SetString(PyExc_TypeError, "this slice reads bytes");
        return NULL;
    }
    at = PyBytes_AS_STRING(chunk);
    end = at + PyBytes_GET_SIZE(chunk);
    self->received += end - at;
    if (!(events = PyList_New(0)))
        return NULL;
    is_carried = self->held > 0;
    if (is_carried) {
        Py_ssize_t searched = self->held - 1;
        if (keep(self, at, end - at) < 0)
            goto failed;
        at = self->carry;
        end = at + self->held;
        blank = find_blank_line(at + searched, end);
    } else {
        blank = find_blank_line(at, end);
    }
    for (; blank; blank = find_blank_line(at, end)) {
        if (take_event(self, at, blank, events) < 0)
            goto failed;
        at = blank + 2;
    }
    if (is_carried) {
        self->held = end - at;
        memmove(self->carry, at, (size_t)self->held);
    } else if (at < end && keep(self, at, end - at) < 0) {
        goto failed;
    }
    return events;
failed:
    Py_DECREF(events);
    return NULL;
}

static int reader_init(Reader *self, PyObject *args, PyObject *options)
{
    (void)options;
    if (!PyArg_ParseTuple(args, "O", &self->event))
        return -1;
    Py_INCREF(self->event);
    return (self->texts = PyList_New(0)) ? 0 : -1;
}

static void reader_dealloc(Reader *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(self->event);
    Py_XDECREF(self->texts);
    PyMem_Free(self->carry);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"feed", (PyCFunction)reader_feed, METH_O, "Take a read; return events, and as bytes what is left to Python."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_init, reader_init},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, reader_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};
static PyType_Spec spec = {"slice.Reader", sizeof(Reader), 0, Py_TPFLAGS_DEFAULT, slots};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "slice", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_slice(void)
{
    PyObject *module = PyModule_Create(&definition);
    PyObject *reader = module ? PyType_FromSpec(&spec) : NULL;
    if (!reader || PyModule_AddObject(module, "Reader", reader) < 0) {
        Py_XDECREF(reader);
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
