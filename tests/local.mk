if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_window
tests_unit_test_window_SOURCES = tests/unit/test_window.c
tests_unit_test_window_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_window_LDADD = libwindow.la $(CMOCKA_LIBS)
endif
